import Foundation
import Testing

/// A file to which another process appends lines: each is read once.
struct LineFile {
  private let path: String
  private var offset: UInt64 = 0

  init(_ path: String) { self.path = path }

  /// The whole lines that were added since the last call. The last one may still be on its way.
  mutating func next() throws -> [String] {
    var status = stat()
    guard stat(path, &status) == 0, UInt64(status.st_size) > offset else { return [] }
    let handle = try #require(FileHandle(forReadingAtPath: path))
    defer { try? handle.close() }
    try handle.seek(toOffset: offset)
    let data = try handle.readToEnd() ?? Data()
    guard let end = data.lastIndex(of: 0x0a) else { return [] }
    offset += UInt64(end + 1)
    return String(decoding: data[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
