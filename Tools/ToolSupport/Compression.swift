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

  /// Unpacks a file into another one.
  ///
  /// - Parameter name: the input's name in messages.
  package func unpack(
    _ input: Int32, to output: Int32, _ name: String
  ) throws(ToolError) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    var words: [UnsafeMutablePointer<CChar>?] = [strdup(rawValue), strdup("-dc"), nil]
    defer { for word in words { free(word) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var process = pid_t()
    let code = posix_spawnp(&process, rawValue, &actions, nil, &words, &environment)
    if code != 0 {
      throw ToolError("\(name) is compressed, and cannot start", rawValue, errno: code)
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    if status != 0 { throw ToolError("\(name): \(rawValue) cannot unpack it") }
  }
}
