import Foundation

/// The parameters with which libpq logs in as a user.
struct UserLogin: Codable, Equatable, Sendable {
  var role: String
  var password: String?
  /// Parameters of libpq, such as a certificate's files.
  var parameters: [String: String] = [:]

  /// - Throws: `ServerError` for a wrong address.
  func address(_ configuration: AppConfiguration) throws(ServerError) -> ServerAddress {
    try configuration.address().setting(parameters).login(as: role, password: password)
  }
}

/// The logins of an app's users, in a file that only this operating-system user can read. This
/// user's programs share it.
struct UserFile: Sendable {
  private let path: String

  struct Content: Codable, Equatable, Sendable {
    /// The role of the current user.
    var current: String?
    /// The logged-in users, in the order of their logins.
    var logins: [UserLogin] = []
    /// Users who have logged out and were not removed.
    var loggedOut: [String] = []
  }

  /// - Parameters:
  ///   - id: the id of the app.
  ///   - folder: the folder with the data of apps.
  init(_ id: String, in folder: URL) {
    path = folder.appending(path: "users/\(Self.fileName(id)).json").path
  }

  /// The folder for the data of this operating-system user.
  static var standardFolder: URL {
    let environment = ProcessInfo.processInfo.environment
    func folder(_ name: String) -> String? {
      environment[name].flatMap { $0.beginsWithBytes(of: "/") ? $0 : nil }
    }
    // `HOME` first, like shells and libpq: Foundation would use the user's entry instead.
    let base = folder("XDG_DATA_HOME") ?? (folder("HOME") ?? NSHomeDirectory()) + "/.local/share"
    return URL(filePath: base).appending(path: "tarn")
  }

  /// A text as a file name, even if it contains a slash.
  static func fileName(_ text: String) -> String {
    text.utf8.map { byte in
      switch UnicodeScalar(byte) {
      case "a"..."z", "A"..."Z", "0"..."9", "-", "@": String(UnicodeScalar(byte))
      default: "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined()
  }

  func read() throws(AppError) -> Content {
    guard FileManager.default.fileExists(atPath: path) else { return Content() }
    do {
      return try JSONDecoder().decode(Content.self, from: Data(contentsOf: URL(filePath: path)))
    } catch {
      throw AppError(.fileAccess, "the logins in \(path) cannot be read: \(error)")
    }
  }

  func write(_ content: Content) throws(AppError) {
    let files = FileManager.default
    let folder = (path as NSString).deletingLastPathComponent
    let next = path + ".\(ProcessInfo.processInfo.processIdentifier)"
    do {
      try files.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let data = try JSONEncoder().encode(content)
      // The mode is set before the content is written.
      guard
        files.createFile(atPath: next, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw CocoaError(.fileWriteUnknown) }
      let file = try FileHandle(forWritingTo: URL(filePath: next))
      try file.write(contentsOf: data)
      try file.synchronize()
      try file.close()
      guard unsafe rename(next, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    } catch {
      try? files.removeItem(atPath: next)
      throw AppError(.fileAccess, "the logins cannot be written to \(path): \(error)")
    }
  }
}
