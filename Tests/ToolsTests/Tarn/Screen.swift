import Foundation
import Testing

/// A terminal: the end that a person looks at, and the one that programs write to.
final class Screen {
  let person: Int32
  let program: FileHandle
  private var unread: [UInt8] = []

  init() throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // TIOCSPTLCK and TIOCGPTN: make the other end usable, and tell its number.
    var isLocked: Int32 = 0
    var number: Int32 = 0
    try #require(
      person >= 0 && ioctl(person, 0x4004_5431, &isLocked) == 0
        && ioctl(person, 0x8004_5430, &number) == 0)
    let end = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(end >= 0)
    program = FileHandle(fileDescriptor: end, closeOnDealloc: true)
  }

  deinit { close(person) }

  func resize(columns: UInt16, lines: UInt16) throws {
    var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(person, UInt(TIOCSWINSZ), &size) == 0)
  }

  /// Presses keys.
  func type(_ keys: String) throws {
    let bytes = Array(keys.utf8)
    try #require(write(person, bytes, bytes.count) == bytes.count)
  }

  /// The written text up to this one, from where the last call ended. If it does not come, an issue
  /// is recorded after five minutes without output.
  func text(upTo wanted: String) -> String {
    let wanted = Array(wanted.utf8)
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      if let found = unread.firstRange(of: wanted) {
        defer { unread.removeSubrange(..<found.upperBound) }
        return String(decoding: unread[..<found.upperBound], as: UTF8.self)
      }
      var wait = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 300_000) > 0 else {
        Issue.record("\(String(decoding: wanted, as: UTF8.self).debugDescription) was not written")
        break
      }
      let count = read(person, &piece, piece.count)
      guard count > 0 else { break }
      unread += piece[..<count]
    }
    defer { unread = [] }
    return String(decoding: unread, as: UTF8.self)
  }
}
