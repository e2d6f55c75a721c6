import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// Where a secret is, which the configuration itself does not have.
enum SecretSource: Equatable, Sendable {
  case file(String)
  /// A variable of the daemon's environment.
  case environment(String)
  /// A credential that systemd has given to the unit.
  case credential(String)

  /// The secret, read anew: files and credentials may have been replaced.
  ///
  /// - Throws: `ToolError` that says what is missing, and not what is there.
  func read(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ToolError) -> [UInt8] {
    switch self {
    case .file(let path): return try Self.contents(of: path, "the secret in \(path)")
    case .environment(let name):
      guard let text = environment[name], !text.isEmpty else {
        throw ToolError("the environment has no variable \(name)")
      }
      return Array(text.utf8)
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw ToolError(
          "there are no credentials: give the unit 'LoadCredential=\(name)', and run the program "
            + "as the unit does")
      }
      return try Self.contents(of: "\(folder)/\(name)", "the credential \(name)")
    }
  }

  private static func contents(of path: String, _ what: String) throws(ToolError) -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ToolError("cannot read \(what)")
    }
    // Without the line feed that an editor adds.
    let bytes = Array(data).reversed().drop { $0 == 0x0a || $0 == 0x0d }.reversed()
    if bytes.isEmpty { throw ToolError("\(what) is empty") }
    return Array(bytes)
  }
}

/// A header with a secret.
struct SecretHeader: Equatable, Sendable {
  let name: String
  let prefix: String
  let source: SecretSource

  /// The line of a request.
  func line() throws(ToolError) -> String {
    let secret = try source.read()
    // A line break would begin another header.
    guard !secret.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      throw ToolError(
        "the secret for the header \(name) contains a line break or another control character")
    }
    guard let text = String(validating: secret, as: UTF8.self) else {
      throw ToolError("the secret for the header \(name) is not UTF-8")
    }
    return "\(name): \(prefix)\(text)"
  }
}

extension WebhookSettings {
  static func isURL(_ text: String) -> Bool {
    text.beginsWithBytes(of: "https://") || text.beginsWithBytes(of: "http://")
  }

  /// The URL, which is read each time if it is a secret.
  ///
  /// - Throws: `ToolError` that has nothing of it.
  func readURL() throws(ToolError) -> String {
    guard let urlSource else { return url }
    let secret = try urlSource.read()
    guard let text = String(validating: secret, as: UTF8.self), Self.isURL(text),
      !secret.contains(where: { $0 < 0x21 || $0 == 0x7f }), tarn_url_fault(text) == nil
    else {
      throw ToolError("the secret is not a URL that begins with https:// or http://")
    }
    return text
  }
}

extension MappingReader {
  private static let sources = ["file", "env", "credential"]

  /// A secret's place among the keys of this mapping: exactly one of three.
  func secretSource() -> SecretSource? {
    let given = Self.sources.filter(has)
    let texts = Self.sources.map { string($0) }
    guard given.count == 1 else {
      problems.add(
        line, path, "needs exactly one of the keys \(Self.sources.joined(separator: ", "))")
      return nil
    }
    if let path = texts[0] {
      if !path.beginsWithBytes(of: "/") { add("file", "needs an absolute path, not '\(path)'") }
      return .file(path)
    }
    if let name = texts[1] {
      if name.isEmpty || name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) {
        add("env", "needs the name of a variable, not '\(name)'")
      }
      return .environment(name)
    }
    guard let name = texts[2] else { return nil }
    if name.isEmpty || name.utf8.contains(where: { $0 < 0x21 || $0 == 0x2f || $0 == 0x3a }) {
      add("credential", "needs the name of a credential, without '/' and ':', not '\(name)'")
    }
    return .credential(name)
  }

  /// A secret's place under one of two keys: a path, or a mapping with the source.
  func secret(_ key: String, orFile fileKey: String) -> SecretSource? {
    let path = string(fileKey)
    if let path, !path.beginsWithBytes(of: "/") {
      add(fileKey, "needs an absolute path, not '\(path)'")
    }
    guard let nested = mapping(key) else { return path.map { .file($0) } }
    if path != nil { add(key, "there is '\(fileKey)', too: give one of them") }
    let source = nested.secretSource()
    nested.finish()
    return source
  }
}
