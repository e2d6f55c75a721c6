import Foundation

/// The Realm files of the tests, which a program of our own wrote with the peer's library, and what
/// that library reads in them.
package struct RealmFixture: Sendable, CustomStringConvertible {
  package let name: String
  /// The key of an encrypted file.
  package var key: [UInt8]?
  /// The file whose dump this one has.
  package var dumpName: String
  /// Whether the dump has tables that are no classes.
  package var hasAllTables = false

  private init(_ name: String, key: String? = nil, dump: String? = nil, all: Bool = false) {
    self.name = name
    self.key = key.map(Self.bytes(hexadecimal:))
    dumpName = dump ?? name
    hasAllTables = all
  }

  package var description: String { name }

  private static let key1 =
    "0aec7e0c07984adbe57ab0b5118fcbc16d847b39896f5a7d97f1e3b924e2886a"
    + "e9027c56146a71defba29da012a0b1cf8311a1dfedba6b39efcc332db4696562"
  private static let key2 =
    "10d472762513152a322b57ac2a0ce40d7513907e1535477ae4771a4c32eac0d2"
    + "5bb966b6250c956b03b99097841674db9268ee0846b2653e6aece27c04e60c9f"
  private static let key3 =
    "15bc65e0448fe1787fddfea3448afd587da2a4c3a0fb357831fd50de40f1f93a"
    + "ce714f1736afbaf80ad0848ff68d38e6a1bf3a31a0a95f43e50c90ca5563b3dc"

  package static let all: [RealmFixture] =
    [
      "tiny", "widths", "types", "keys", "collections", "mixed", "links", "embedded", "enumerated",
      "many", "deep", "migrated", "churn", "streaming", "reopened", "upgraded20", "upgraded22",
      "empty", "empty_schema",
    ].map { RealmFixture($0) } + [
      RealmFixture("kinds", all: true),
      RealmFixture("encrypted", key: key1),
      RealmFixture("encrypted_interrupted", key: key1),
      RealmFixture("encrypted_many", key: key2),
      RealmFixture("streaming_encrypted", key: key3, dump: "many"),
    ]

  package static func named(_ name: String) -> RealmFixture { all.first { $0.name == name }! }

  private static func bytes(hexadecimal text: String) -> [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)!
    }
  }

  /// The file itself, which no test may change.
  package var path: String { Self.folder + "/\(name).realm" }

  package var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
  }

  private static let folder = Bundle.module.bundleURL.appendingPathComponent("Files").path

  /// The lines of the dump.
  package var dump: [String] {
    get throws { try Self.dump(Self.folder + "/" + dumpName) }
  }

  /// The lines of a dump, which may be compressed.
  ///
  /// - Parameter path: without extension.
  package static func dump(_ path: String) throws -> [String] {
    let plain = URL(fileURLWithPath: path + ".jsonl")
    let isPlain = FileManager.default.fileExists(atPath: plain.path)
    let data = isPlain ? try Data(contentsOf: plain) : try unpacked(path + ".jsonl.gz")
    return data.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func unpacked(_ path: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return data
  }
}
