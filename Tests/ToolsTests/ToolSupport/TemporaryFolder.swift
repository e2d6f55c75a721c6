import Foundation

/// A folder of a test's own, gone with everything in it when the test lets go of it.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/tarn-tools-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else { throw POSIXError(.EIO) }
    path = String(cString: made)
  }

  /// The path of a file in the folder, written with the bytes if there are any.
  func file(_ name: String, _ bytes: [UInt8]? = nil) throws -> String {
    let file = "\(path)/\(name)"
    if let bytes { try Data(bytes).write(to: URL(fileURLWithPath: file)) }
    return file
  }

  var contents: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
