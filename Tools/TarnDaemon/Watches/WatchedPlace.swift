import Foundation
import TarnStore
import ToolSupport

/// Which file a position is for: its path, and the file that was there.
struct WatchedPlace: Equatable, Sendable {
  /// The longest path of the system, and the numbers before it.
  static let bytesMax = 4_096 + 128

  let path: String
  let file: FileIdentity

  init(path: String, file: FileIdentity) {
    self.path = path
    self.file = file
  }

  /// The file at a path now; nil if there is none.
  init?(at path: String) {
    guard let facts = FileFacts.at(path) else { return nil }
    self.init(path: path, file: facts.identity)
  }

  /// A line with a sum, and then the path.
  var bytes: [UInt8] {
    Array("\(ShortSum.of(facts)) \(file.device) \(file.inode) \(path.utf8.count)\n\(path)".utf8)
  }

  private var facts: String { "\(file.device) \(file.inode) \(path)" }

  /// Nil if a power cut has left another text.
  init?(bytes: some Collection<UInt8>) {
    let parts = bytes.split(separator: 0x0a, maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let words = String(decoding: parts[0], as: UTF8.self).splitASCII(" ")
    guard words.count == 4, let device = UInt64(words[1]), let inode = UInt64(words[2]),
      let count = Int(words[3]), 0...parts[1].count ~= count
    else { return nil }
    self.init(
      path: String(decoding: parts[1].prefix(count), as: UTF8.self),
      file: FileIdentity(device: device, inode: inode))
    guard ShortSum.of(facts) == words[0] else { return nil }
  }
}
