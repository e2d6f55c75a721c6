package import Foundation

/// A folder of one test, gone with everything in it when the test lets go of it.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    path = FileManager.default.temporaryDirectory.path + "/tarn-test-" + UUID().uuidString
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the folder.
  package func file(_ name: String) -> String { path + "/" + name }

  /// The path of a file in the folder, with those bytes in it.
  package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// A file in the folder as Realms are opened with.
  package func url(_ name: String) -> URL { URL(fileURLWithPath: file(name)) }

  /// What lies in the folder.
  package var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }
}
