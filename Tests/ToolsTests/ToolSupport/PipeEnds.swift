import Foundation

/// Both ends of a pipe; whatever end is still open is closed with it.
final class PipeEnds {
  private(set) var reading: Int32
  private(set) var writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
    // What another test starts meanwhile must not keep them open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = ends[0]
    writing = ends[1]
  }

  func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  /// The writing end for somebody else to close.
  func giveWriting() -> Int32 {
    defer { writing = -1 }
    return writing
  }

  /// Everything up to the end of the pipe. Blocks until the writing end is closed.
  func readAll() -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(reading, &piece, piece.count)
      if count <= 0 { return all }
      all += piece[..<count]
    }
  }

  deinit {
    closeReading()
    closeWriting()
  }
}
