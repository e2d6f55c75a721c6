import Foundation
import TarnText
import ToolSupport

/// A client of a Unix socket that reads lines.
final class LineClient {
  private let descriptor: Int32
  private var bytes: [UInt8] = []
  /// So many bytes have no line feed.
  private var searched = 0

  init(_ path: String, _ request: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard UnixAddress.with(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw ToolError("cannot connect to", path, errno: errno)
    }
    let words = Array(request.utf8)
    _ = send(descriptor, words, words.count, Int32(MSG_NOSIGNAL))
  }

  /// Closing alone does not end the connection while a child of another test, between `fork` and
  /// `exec`, has the descriptor as well.
  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// The next line; nil at the end of the connection.
  func line() throws -> String? {
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0a) {
        defer {
          bytes.removeSubrange(...end)
          searched = 0
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      searched = bytes.count
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 120_000) > 0 else { throw ToolError("no line came within two minutes") }
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      let count = Foundation.read(descriptor, &piece, piece.count)
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }

  /// The next line as JSON.
  func json() throws -> JSONValue {
    guard let line = try line() else { throw ToolError("the connection has ended") }
    return try JSONScanner.value(in: line)
  }

  /// Reads lines until one is of that version or a later one; feeds each to the model.
  func read(upTo version: Int, into model: inout NoteModel) throws {
    while true {
      let line = try json()
      try model.apply(line)
      if case .integer(let found)? = line["version"], found >= version { return }
    }
  }
}
