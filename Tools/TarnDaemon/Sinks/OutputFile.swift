import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// An output that lines are appended to, one whole line after another, by all its sinks.
///
/// A lock on the file keeps other daemons from writing it, but not those of versions that take
/// none. Any thread.
final class OutputFile: Sendable {
  /// How often a line that waits for a reader looks whether its sink was stopped.
  private static let lookMilliseconds: Int32 = 100
  /// So many bytes fit in a pipe that can be written.
  private static let pipeBytes = 4_096

  let identity: FileIdentity
  private let path: String
  private let kind: OutputDescriptor.Kind
  private let descriptor: Int32
  /// Held while a line is written: whether a failure has left a part of one.
  private let isInLine = Lock(false)

  init(_ opened: OutputDescriptor) {
    identity = opened.identity
    path = opened.path
    kind = opened.kind
    descriptor = opened.descriptor
  }

  func close() { Foundation.close(descriptor) }

  /// Locks the file, and mends what a death has left of a line.
  func prepare() throws(DeliveryFailure) {
    guard kind == .file else { return }
    switch tarn_lock_file(descriptor) {
    case EAGAIN, EACCES:
      let holder = LockHolders.text(of: identity) ?? "another process"
      throw failure("\(holder) writes it")
    // Some network file systems have no locks.
    default: break
    }
    let tail = OutputTail(of: descriptor)
    switch tail.kind {
    case .none: return
    case .data:
      throw failure(
        "it is not a file of lines, but one such as a store; give the sink another path")
    case .cut: guard ftruncate(descriptor, tail.start) == 0 else { throw failure(errno: errno) }
    case .whole: try mend()
    }
  }

  private func mend() throws(DeliveryFailure) {
    var count = 0
    try write([0x0a], &count) { false }
  }

  /// Appends a line; returns when it is on the disk.
  ///
  /// - Parameter next: returns the pieces of the line, and nil at the end.
  func append(
    _ next: () throws(DeliveryFailure) -> [UInt8]?, unless isStopped: () -> Bool
  ) throws(DeliveryFailure) {
    try isInLine.withLock { isInLine throws(DeliveryFailure) in
      let start = kind == .file ? lseek(descriptor, 0, SEEK_END) : 0
      var count = 0
      do throws(DeliveryFailure) {
        if isInLine { try write([0x0a], &count, isStopped) }
        while let piece = try next() { try write(piece, &count, isStopped) }
        if kind == .file, fdatasync(descriptor) != 0 { throw failure(errno: errno) }
        isInLine = false
      } catch {
        // No reader may get half a line. Bytes that another program appended since are kept.
        let isOurs = kind == .file && lseek(descriptor, 0, SEEK_END) == start + off_t(count)
        let isTakenBack = isOurs && ftruncate(descriptor, start) == 0
        if count > 0, !isTakenBack { isInLine = true }
        throw error
      }
    }
  }

  private func write(
    _ bytes: [UInt8], _ count: inout Int, _ isStopped: () -> Bool
  ) throws(DeliveryFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      if isStopped() { throw failure("the daemon ends") }
      if kind == .stream {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&wait, 1, Self.lookMilliseconds) == 0 { continue }
      }
      let piece = kind == .stream ? rest.prefix(Self.pipeBytes) : rest
      let written = piece.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR || errno == EAGAIN { continue }
      guard written > 0 else { throw failure(errno: errno) }
      rest = rest.dropFirst(written)
      count += written
    }
  }

  private func failure(_ reason: String) -> DeliveryFailure {
    OutputDescriptor.failure(path, reason)
  }

  private func failure(errno code: Int32) -> DeliveryFailure {
    OutputDescriptor.failure(path, errno: code)
  }
}
