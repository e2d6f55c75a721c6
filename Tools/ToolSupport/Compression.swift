import Foundation
import TarnStore

/// The ways in which an input may be compressed, each with the program that unpacks it.
package enum Compression: String, CaseIterable, Sendable {
  case gzip, xz, zstd, bzip2

  private var firstBytes: [UInt8] {
    switch self {
    case .gzip: [0x1f, 0x8b]
    case .xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]
    case .zstd: [0x28, 0xb5, 0x2f, 0xfd]
    case .bzip2: [0x42, 0x5a, 0x68]
    }
  }

  /// The ending of names.
  private var ending: String {
    switch self {
    case .gzip: ".gz"
    case .xz: ".xz"
    case .zstd: ".zst"
    case .bzip2: ".bz2"
    }
  }

  /// - Parameter head: the first bytes of an input.
  package init?(head: some Collection<UInt8>) {
    guard let found = Self.allCases.first(where: { head.starts(with: $0.firstBytes) }) else {
      return nil
    }
    self = found
  }

  /// The name of a file when it is unpacked.
  package static func name(unpacking path: String) -> Substring {
    for kind in allCases where path.endsWithBytes(of: kind.ending) {
      return Substring(path.utf8.dropLast(kind.ending.utf8.count))
    }
    return path[...]
  }

  /// The compression of a file; nil if it has none. Reads from the start.
  package static func of(descriptor: Int32) -> Compression? {
    var head = [UInt8](repeating: 0, count: 8)
    let count = pread(descriptor, &head, head.count, 0)
    return Compression(head: head.prefix(max(0, count)))
  }

  /// Unpacks a file into another one. An interruption ends that.
  ///
  /// - Parameter name: the input's name in messages.
  package func unpack(
    _ input: Int32, to output: Int32, _ name: String
  ) throws(ToolError) {
    // The program writes to a pipe, so that it ends with this process.
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolError("cannot make", "a pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process: pid_t
    do throws(ToolError) {
      process = try start(input, ends[1], name)
    } catch {
      for end in ends { close(end) }
      throw error
    }
    close(ends[1])
    do throws(ToolError) {
      try Self.copy(ends[0], to: output, name)
      close(ends[0])
    } catch {
      close(ends[0])
      kill(process, SIGTERM)
      _ = Self.wait(for: process)
      throw error
    }
    let status = Self.wait(for: process)
    // Ctrl-C reaches both processes, in any order.
    if status & 0x7f == SIGINT, Interruption.isWatched { throw Interruption.error }
    if status != 0 { throw ToolError("\(name): \(rawValue) cannot unpack it") }
  }

  private func start(
    _ input: Int32, _ output: Int32, _ name: String
  ) throws(ToolError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This process may ignore it, which the program would inherit.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var words: [UnsafeMutablePointer<CChar>?] = [strdup(rawValue), strdup("-dc"), nil]
    defer { for word in words { free(word) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var process = pid_t()
    let code = posix_spawnp(&process, rawValue, &actions, &attributes, &words, &environment)
    if code != 0 {
      throw ToolError("\(name) is compressed, and cannot start", rawValue, errno: code)
    }
    return process
  }

  private static func copy(
    _ input: Int32, to output: Int32, _ name: String
  ) throws(ToolError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try Interruption.wait(toRead: input)
      let count = read(input, &buffer, buffer.count)
      if count == 0 { return }
      if count < 0, errno != EINTR { throw ToolError("cannot read", name, errno: errno) }
      var start = 0
      while start < count {
        let written = buffer.withUnsafeBytes { bytes in
          Foundation.write(output, bytes.baseAddress! + start, count - start)
        }
        if written < 0, errno != EINTR {
          throw ToolError("cannot write to", "the copy of \(name)", errno: errno)
        }
        start += max(0, written)
      }
    }
  }

  /// The status of `waitpid` for a process that has ended.
  private static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return status
  }
}
