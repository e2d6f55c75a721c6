package import TarnStore
import TarnText

/// A commit that the server refused. It was rolled back: its objects have the server's state.
package struct RefusedCommit {
  /// Its version; 0 for an object from before the file was a replica, which is left unchanged.
  package let version: UInt64
  /// The class and primary key of each object that it changed.
  package let objects: [(className: String, primaryKey: Value)]
  package let error: ServerError
  /// The properties whose rule was broken, as far as the server reports them.
  package let properties: [String]

  /// Whether it was rolled back because a user skipped it.
  package var isSkipped: Bool { error.message == Self.skipped.message }

  /// The error of a commit that a user skipped.
  static let skipped = ServerError(
    "exchange with the server", "it was skipped by a user of this machine")

  init(
    version: UInt64, objects: [(className: String, primaryKey: Value)], error: ServerError,
    properties: [String] = []
  ) {
    self.version = version
    self.objects = objects
    self.error = error
    self.properties = properties
  }
}

/// The refused commits whose messages have not been delivered, as a record of the file: if a
/// session ends between a refusal and its message, the next one delivers it.
extension RefusedCommit {
  static let key = ReplicaKey(131, ClassID(0), 0)
  private static let format: UInt8 = 2

  /// - Returns: nil for none.
  static func encoded(_ commits: [RefusedCommit]) -> [UInt8]? {
    if commits.isEmpty { return nil }
    var writer = BigEndianWriter()
    writer.write(format)
    writer.write(count: commits.count)
    for commit in commits {
      writer.write(commit.version)
      let error = commit.error
      for text in [error.state, error.operation, error.message, error.detail, error.hint] {
        writer.write(text: text)
      }
      writer.write(texts: commit.properties)
      writer.write(count: commit.objects.count)
      for object in commit.objects {
        writer.write(text: object.className)
        writer.write(text: JSONText.text(ScalarCoder.json(object.primaryKey, as: .any)))
      }
    }
    return writer.bytes
  }

  /// - Returns: nil for damaged bytes.
  static func list(_ bytes: [UInt8]) -> [RefusedCommit]? {
    var reader = BigEndianReader(bytes)
    guard reader.read(UInt8.self) == format, let count = reader.readCount() else { return nil }
    var commits: [RefusedCommit] = []
    for _ in 0..<count {
      guard let commit = RefusedCommit(&reader) else { return nil }
      commits.append(commit)
    }
    return reader.isAtEnd ? commits : nil
  }

  private init?(_ reader: inout BigEndianReader) {
    guard let version: UInt64 = reader.read() else { return nil }
    var texts: [String] = []
    for _ in 0..<5 {
      guard let text = reader.readText() else { return nil }
      texts.append(text)
    }
    guard let properties = reader.readTexts(), let count = reader.readCount() else { return nil }
    var objects: [(className: String, primaryKey: Value)] = []
    for _ in 0..<count {
      guard let name = reader.readText(), let text = reader.readText(),
        let json = try? JSONScanner.value(in: text), let key = ScalarCoder.value(json, as: .any)
      else { return nil }
      objects.append((name, key))
    }
    self.version = version
    self.objects = objects
    self.properties = properties
    error = ServerError(
      state: texts[0], texts[1], texts[2], detail: texts[3], hint: texts[4])
  }
}
