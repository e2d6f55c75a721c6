import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// One run of a command: feeds its standard input, passes on what it prints, and ends it when its
/// time is up. Confined to one thread.
final class CommandRun {
  enum End: Equatable {
    case exited(Int32)
    case killed(Int32)
    case late
    case stopped
    /// The batch cannot be read.
    case unread(DeliveryFailure)
  }

  /// The longest grace when the daemon ends, which has five seconds for it.
  private static let graceAtEnd = Duration.seconds(3)

  /// A longer line of output is passed on in parts.
  private static let lineBytesMax = 4_096
  /// So much is read or written at a time, so that a command which never stops does not keep the
  /// daemon from looking at the clock.
  private static let turnBytesMax = 1 << 18

  private let process: pid_t
  private let ended: Int32
  private var input: Int32
  private var output: Int32
  private let next: (() throws(DeliveryFailure) -> [UInt8]?)?
  private var piece: [UInt8] = []
  private var written = 0
  private var printed: [UInt8] = []

  /// - Parameter next: returns the pieces of its standard input, and nil at the end.
  init(
    _ words: [String], environment: [String], user: String?,
    input next: (() throws(DeliveryFailure) -> [UInt8]?)?
  ) throws(DeliveryFailure) {
    var inputEnds: [Int32] = [-1, -1]
    var outputEnds: [Int32] = [-1, -1]
    func closeAll(_ ends: [Int32]) { for end in ends where end >= 0 { close(end) } }
    guard tarn_pipe(&inputEnds, false) == 0 else { throw Self.failure(words[0], errno) }
    guard tarn_pipe(&outputEnds, false) == 0 else {
      closeAll(inputEnds)
      throw Self.failure(words[0], errno)
    }
    var made = pid_t()
    var arguments = words.map { $0.withPath { strdup($0) } } + [nil]
    var settings = environment.map { $0.withPath { strdup($0) } } + [nil]
    defer { for text in arguments + settings { free(text) } }
    let code = tarn_start(
      words[0], &arguments, &settings, user, inputEnds[0], outputEnds[1], outputEnds[1], &made)
    close(inputEnds[0])
    close(outputEnds[1])
    guard code == 0 else {
      if made > 0 { waitpid(made, nil, 0) }
      close(inputEnds[1])
      close(outputEnds[0])
      throw Self.failure(words[0], code)
    }
    process = made
    CommandKeeper.shared.add(made)
    input = inputEnds[1]
    output = outputEnds[0]
    ended = tarn_process_descriptor(made)
    self.next = next
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
  }

  deinit {
    closeInput()
    closeOutput()
    if ended >= 0 { close(ended) }
  }

  private static func failure(_ program: String, _ code: Int32) -> DeliveryFailure {
    if code == ENOENT, program.firstASCII("/") != nil, PathRights.kind(of: program) != nil {
      return DeliveryFailure(
        description: "cannot start \(program): there is no program that its first line names")
    }
    return DeliveryFailure(
      description: "cannot start \(program): \(String(cString: strerror(code)))")
  }

  /// Waits for its end.
  func wait(
    timeout: Duration, grace: Duration, stop: WakePipe, _ print: (String) -> Void
  ) -> End {
    let limit = ContinuousClock.now + timeout
    while true {
      let rest = limit - .now
      if rest <= .zero { return end(.late, grace, print) }
      do throws(DeliveryFailure) {
        try feed()
      } catch {
        return end(.unread(error), grace, print)
      }
      var waits = [
        pollfd(fd: ended, events: Int16(POLLIN), revents: 0),
        pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      // Without a descriptor of the process its end is asked for.
      let longest = ended < 0 ? 20 : Int32(clamping: rest.components.seconds * 1000 + 999)
      _ = poll(&waits, nfds_t(waits.count), longest)
      read(print)
      if waits[3].revents != 0 { return end(.stopped, min(grace, Self.graceAtEnd), print) }
      if waits[2].revents & Int16(POLLERR) != 0 { closeInput() }
      if let end = reap(blocking: false) {
        finish(print)
        return end
      }
    }
  }

  /// Writes what the pipe takes.
  private func feed() throws(DeliveryFailure) {
    var total = 0
    while input >= 0, total < Self.turnBytesMax {
      if written == piece.count {
        guard let more = try next?() else { return closeInput() }
        piece = more
        written = 0
      }
      let count = piece.withUnsafeBytes { raw in
        write(input, raw.baseAddress! + written, raw.count - written)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      // It may end without reading everything.
      guard count > 0 else { return closeInput() }
      written += count
      total += count
    }
  }

  private func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// A command may close its output, and go on.
  private func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
  }

  private func read(_ print: (String) -> Void) {
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    var total = 0
    while output >= 0, total < Self.turnBytesMax {
      let count = Foundation.read(output, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      if count == 0 { closeOutput() }
      guard count > 0 else { break }
      total += count
      printed += bytes[..<count]
      let lines = printed.split(separator: 0x0a, omittingEmptySubsequences: false)
      for line in lines.dropLast() { print(String(decoding: line, as: UTF8.self)) }
      printed = Array(lines.last ?? [])
      if printed.count >= Self.lineBytesMax {
        print(String(decoding: printed, as: UTF8.self))
        printed = []
      }
    }
  }

  private func finish(_ print: (String) -> Void) {
    read(print)
    if !printed.isEmpty { print(String(decoding: printed, as: UTF8.self)) }
    printed = []
  }

  private func reap(blocking: Bool) -> End? {
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, blocking ? 0 : WNOHANG)
      if found < 0, errno == EINTR { continue }
      guard found == process else { return nil }
      CommandKeeper.shared.remove(process)
      let signal = status & 0x7f
      return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
    }
  }

  /// Ends it and what it has started: first kindly.
  private func end(_ why: End, _ grace: Duration, _ print: (String) -> Void) -> End {
    kill(-process, SIGTERM)
    let limit = ContinuousClock.now + grace
    var found = reap(blocking: false)
    while found == nil, ContinuousClock.now < limit {
      var waits = [pollfd(fd: ended, events: Int16(POLLIN), revents: 0)]
      _ = poll(&waits, 1, 20)
      read(print)
      found = reap(blocking: false)
    }
    kill(-process, SIGKILL)
    if found == nil { _ = reap(blocking: true) }
    finish(print)
    return why
  }
}
