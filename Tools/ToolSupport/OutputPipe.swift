import Foundation

/// Buffered output that behaves in a pipeline.
///
/// - A reader that closes the pipe ends the tool quietly: `write` and `flush` throw
///   `Failure.closed`, and the tool exits with `ExitCode.success`, because the reader had enough
///   (`tarn export … | head`). SIGPIPE must be ignored for that: `SignalTrap.ignoreBrokenPipes()`.
/// - A reader that does not read stops the writer, as it should; `cancel()` from any thread lets
///   a blocked write throw `Failure.cancelled`. A pipe is written in pieces that fit once it is
///   reported ready, so that no write blocks where `cancel` cannot reach it. The descriptor's own
///   flags stay as they are: other processes may share them.
/// - A full disk, or any other error, is `Failure.failed` with the reason.
///
/// `cancel` may be called from any thread; everything else belongs to one thread at a time.
package final class OutputPipe {
  package enum Failure: Error, Equatable {
    case closed
    case cancelled
    case failed(ToolError)
  }

  private let descriptor: Int32
  private let name: String
  private let isWaitable: Bool
  private let canceller: Canceller
  private var buffer: [UInt8] = []
  private let bufferBytes: Int

  /// - Parameter bufferBytes: how much is gathered before it is written; `flush` writes earlier.
  package init(
    descriptor: Int32 = STDOUT_FILENO, name: String = "standard output",
    bufferBytes: Int = 1 << 16
  ) {
    self.descriptor = descriptor
    self.name = name
    self.bufferBytes = bufferBytes
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    isWaitable = kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR
    canceller = Canceller()
    buffer.reserveCapacity(bufferBytes)
  }

  /// What makes a blocked write give up; may be kept and called by a signal handler's queue.
  package var cancel: @Sendable () -> Void {
    let canceller = canceller
    return { canceller.cancel() }
  }

  package func write(_ text: String) throws(Failure) { try write(Array(text.utf8)) }

  package func write(_ bytes: [UInt8]) throws(Failure) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= bufferBytes { try flush() }
  }

  /// Writes what is gathered. What was not written when this throws is dropped.
  package func flush() throws(Failure) {
    defer { buffer.removeAll(keepingCapacity: true) }
    var start = 0
    while start < buffer.count {
      if isWaitable { try wait() }
      let limit = isWaitable ? Int(PIPE_BUF) : buffer.count
      let piece = min(limit, buffer.count - start)
      let count = buffer.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress! + start, piece)
      }
      if count >= 0 {
        start += count
      } else if errno == EPIPE {
        throw .closed
      } else if errno != EINTR && errno != EAGAIN {
        throw .failed(ToolError("cannot write to", name, errno: errno))
      }
    }
  }

  /// Returns when a write of a piece will not block.
  private func wait() throws(Failure) {
    while true {
      var waits = [
        pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: canceller.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&waits, 2, -1)
      if ready < 0, errno != EINTR {
        throw .failed(ToolError("cannot wait for", name, errno: errno))
      }
      if ready <= 0 { continue }
      if waits[1].revents != 0 { throw .cancelled }
      // An error is the write's to find: it knows which.
      if waits[0].revents != 0 { return }
    }
  }
}

/// A pipe whose end becomes readable when the writing is to be given up, once and for all.
private final class Canceller: Sendable {
  let descriptor: Int32
  private let writeEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    // Without a descriptor left there is nothing to wait for, and no cancelling: poll passes
    // over negative descriptors.
    if pipe(&ends) == 0 {
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  func cancel() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }
}
