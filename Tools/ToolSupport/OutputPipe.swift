import Foundation

/// Buffered output that behaves well in a pipeline.
///
/// - If the reader closes the pipe, the tool exits quietly: `write` and `flush` throw
///   `Failure.closed`, and the tool exits with `ExitCode.success`, because the reader had enough
///   (`tarn export … | head`). This requires that SIGPIPE is ignored:
///   `SignalTrap.setUp()`.
/// - If the reader does not read, the writer blocks; `cancel()` from any thread makes a blocked
///   write throw `Failure.cancelled`. A pipe is written in pieces that fit once it is reported
///   ready, so that no write blocks where `cancel` cannot reach it. The descriptor's flags are not
///   changed, because other processes may share them.
/// - A full disk, or any other error, is `Failure.failed` with the reason.
/// - On a terminal, control characters in text and data are escaped, whatever file or process they
///   come from. Only `write(control:)` controls the terminal.
/// - After `neverWait()` no write waits for the reader: unread output is kept in memory and, if
///   there is much, in an unnamed file. `flush` still waits.
///
/// `cancel` may be called from any thread; everything else is confined to one thread at a time.
package final class OutputPipe {
  package enum Failure: Error, Equatable {
    case closed
    case cancelled
    case failed(ToolError)

    /// The error that ends the program; nil if the reader has gone, which is a success.
    package var message: String? {
      if case .failed(let error) = self { error.message } else { nil }
    }
  }

  /// How much unread output is kept in memory.
  private static let keptBytesMax = 1 << 20

  private let descriptor: Int32
  private let name: String
  private let isTerminal: Bool
  private let isWaitable: Bool
  private let isSocket: Bool
  private let canceller: Canceller
  private var buffer: [UInt8] = []
  /// How many bytes of the buffer have been written.
  private var start = 0
  private let bufferBytes: Int
  private var waits = true
  /// The same pipe or terminal, opened as non-blocking; -1 if that is not possible.
  private var impatient: Int32 = -1
  /// The output after the buffer.
  private var kept: ByteQueueFile?

  /// - Parameter bufferBytes: how much is buffered before it is written; `flush` writes earlier.
  package init(
    descriptor: Int32 = STDOUT_FILENO, name: String = "standard output",
    bufferBytes: Int = 1 << 16
  ) {
    self.descriptor = descriptor
    self.name = name
    self.bufferBytes = bufferBytes
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    isTerminal = isatty(descriptor) == 1
    isSocket = kind == S_IFSOCK
    isWaitable = kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR
    canceller = Canceller()
    buffer.reserveCapacity(bufferBytes)
  }

  /// Makes a blocked write throw; may be kept and called by a signal handler's queue.
  package var cancel: @Sendable () -> Void {
    let canceller = canceller
    return { canceller.cancel() }
  }

  /// Writes text, which may be styled.
  package func write(_ text: String) throws(Failure) {
    let bytes = Array(text.utf8)
    try put(isTerminal ? TerminalText.harmless(bytes, keepsStyles: true) : bytes)
  }

  /// Writes data for other programs. The bytes hold whole characters.
  package func write(_ bytes: [UInt8]) throws(Failure) {
    try put(isTerminal ? TerminalText.harmless(bytes, keepsStyles: false) : bytes)
  }

  /// Writes commands for the terminal. Text between them must be `printable`.
  package func write(control text: String) throws(Failure) { try put(Array(text.utf8)) }

  private func put(_ bytes: [UInt8]) throws(Failure) {
    if let kept, !kept.isEmpty { return try keep(bytes[...]) }
    buffer.append(contentsOf: bytes)
    if buffer.count - start < bufferBytes { return }
    if waits { return try flush() }
    if try !writeWhatGoes(), buffer.count - start > Self.keptBytesMax {
      let rest = buffer[(start + Self.keptBytesMax)...]
      buffer.removeSubrange((start + Self.keptBytesMax)...)
      try keep(rest)
    }
  }

  /// Writes the buffer. If it throws, the rest is dropped.
  package func flush() throws(Failure) { _ = try drain(waiting: true) }

  // MARK: - Without waiting

  /// From now on `write` buffers data that the reader does not read at once.
  package func neverWait() {
    waits = false
    guard isWaitable, !isSocket, isWritable else { return }
    // A separate open file description, because other processes may share this one's flags.
    impatient = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
  }

  /// Not for the file that replaces a closed output: opened again, it would accept writes.
  private var isWritable: Bool {
    let flags = fcntl(descriptor, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != O_RDONLY
  }

  /// Writes as much as the reader accepts now. False if something is left.
  package func writeWhatGoes() throws(Failure) -> Bool { try drain(waiting: false) }

  /// Drops the output that the reader has not read.
  package func giveUp() {
    buffer.removeAll(keepingCapacity: true)
    start = 0
    kept = nil
  }

  private func keep(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    do throws(ToolError) {
      if kept == nil { kept = try ByteQueueFile() }
      try kept?.append(bytes)
    } catch {
      // Nothing can be kept, so it has to wait for the reader.
      try flush()
      buffer.append(contentsOf: bytes)
    }
  }

  // MARK: - Writing

  private func drain(waiting: Bool) throws(Failure) -> Bool {
    do throws(Failure) {
      while true {
        if start == buffer.count {
          buffer.removeAll(keepingCapacity: true)
          start = 0
          guard let kept, !kept.isEmpty else { return true }
          do throws(ToolError) {
            buffer = try kept.take(bufferBytes)
          } catch {
            throw .failed(error)
          }
        }
        guard try writePiece(waiting) else { return false }
      }
    } catch {
      giveUp()
      throw error
    }
  }

  /// False if the reader accepts nothing now.
  private func writePiece(_ waiting: Bool) throws(Failure) -> Bool {
    if isWaitable {
      if waiting { try wait() } else if impatient < 0, !isReady() { return false }
    }
    let isLimited = isWaitable && impatient < 0
    let piece = min(isLimited ? Int(PIPE_BUF) : buffer.count, buffer.count - start)
    let count = buffer.withUnsafeBytes { bytes in
      let from = bytes.baseAddress! + start
      return isSocket && !waiting
        ? send(descriptor, from, piece, Int32(MSG_DONTWAIT))
        : Foundation.write(impatient >= 0 ? impatient : descriptor, from, piece)
    }
    if count >= 0 {
      start += count
    } else if errno == EPIPE {
      throw .closed
    } else if errno == EAGAIN {
      return waiting
    } else if errno != EINTR {
      throw .failed(ToolError("cannot write to", name, errno: errno))
    }
    return true
  }

  private func isReady() -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&wanted, 1, 0) > 0
  }

  deinit {
    if impatient >= 0 { close(impatient) }
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
      // The write reports the error, because it knows which.
      if waits[0].revents != 0 { return }
    }
  }
}

/// A pipe whose end becomes readable when writing is cancelled, permanently.
private final class Canceller: Sendable {
  let descriptor: Int32
  private let writeEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    // Without a free descriptor, cancelling does not work: poll ignores negative descriptors.
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
