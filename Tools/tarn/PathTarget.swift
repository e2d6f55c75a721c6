import Foundation
import TarnStore

/// Paths of files that need not exist yet.
enum PathTarget {
  /// The maximum number of links that the system follows.
  private static let linksMax = 40

  /// Where a file is created at the path: at the end of its links.
  static func of(_ path: String) -> String {
    var path = path
    for _ in 0..<linksMax {
      guard let next = link(at: path) else { return path }
      let slash = path.lastASCII("/")
      path = next.beginsWithBytes(of: "/") ? next : String(slash.map { path[...$0] } ?? "") + next
    }
    return path
  }

  /// Whether the path exists, even as a dangling link.
  static func isTaken(_ path: String) -> Bool {
    var facts = stat()
    return path.withPath { lstat($0, &facts) } == 0
  }

  /// Where a symbolic link leads; nil for anything else.
  private static func link(at path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = path.withPath { readlink($0, &bytes, bytes.count - 1) }
    guard count > 0 else { return nil }
    return bytes.withUnsafeBufferPointer { bytes in bytes.baseAddress.map { String(path: $0) } }
  }
}
