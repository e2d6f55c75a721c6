import Foundation
import TarnStore

/// The command lines that hand over keys in place of `{key}`: as many keys in each as the system
/// takes.
struct KeyArguments {
  private static let word = Array("{key}".utf8)
  /// The most keys of one run.
  private static let keysMax = 1_000
  /// So long may one argument be on Linux, with the zero at its end.
  private static let argumentBytesMax = 1 << 17
  /// Programs are started with at least so many bytes of arguments and environment, and need not be
  /// started with more.
  private static let bytesRange = 1 << 17...1 << 20
  /// Kept free for the program's path, and for an interpreter that a script names.
  private static let reserveBytes = 1 << 13

  /// A word of the command: its parts around each place of a key.
  private struct Word {
    let parts: [ArraySlice<UInt8>]

    init(_ text: String) {
      let bytes = Array(text.utf8)
      var (parts, start, place): ([ArraySlice<UInt8>], Int, Int) = ([], 0, 0)
      while place < bytes.count {
        guard bytes[place...].starts(with: KeyArguments.word) else {
          place += 1
          continue
        }
        parts.append(bytes[start..<place])
        place += KeyArguments.word.count
        start = place
      }
      self.parts = parts + [bytes[start...]]
    }

    var takesKey: Bool { parts.count > 1 }
    var beginsWithKey: Bool { takesKey && parts[0].isEmpty }

    func text(_ key: String) -> String {
      String(decoding: Array(parts.joined(separator: Array(key.utf8))), as: UTF8.self)
    }

    func byteCount(_ key: String) -> Int {
      parts.reduce(0) { $0 + $1.count } + (parts.count - 1) * key.utf8.count + 1
    }
  }

  private let words: [Word]
  /// Whether a key may be taken for an option.
  private let isExposed: Bool

  init(_ command: [String]) {
    words = command.map { Word($0) }
    isExposed =
      words.prefix { $0.takesKey || $0.text("") != "--" }.contains { $0.beginsWithKey }
  }

  /// Whether a command is given keys instead of a line on its input.
  static func areTaken(by command: [String]) -> Bool { command.contains { Word($0).takesKey } }

  /// The command lines for all keys, and how many of them each has.
  ///
  /// - Parameter environment: what the program is started with.
  func runs(
    _ keys: [String], _ environment: [String]
  ) throws(DeliveryFailure) -> [(words: [String], count: Int)] {
    let limit = sysconf(Int32(_SC_ARG_MAX))
    let most = min(max(limit, Self.bytesRange.lowerBound), Self.bytesRange.upperBound)
    // Each text has a zero at its end, and a pointer.
    let fixed =
      environment.reduce(Self.reserveBytes) { $0 + $1.utf8.count + 9 }
      + words.filter { !$0.takesKey }.reduce(0) { $0 + $1.byteCount("") + 8 }
    var runs: [(words: [String], count: Int)] = []
    var (some, bytes): ([String], Int) = ([], fixed)
    for key in keys {
      if let fault = fault(of: key) { throw DeliveryFailure(description: fault) }
      let more = words.filter(\.takesKey).reduce(0) { $0 + $1.byteCount(key) + 8 }
      if !some.isEmpty, some.count == Self.keysMax || bytes + more > most {
        runs.append((line(some), some.count))
        (some, bytes) = ([], fixed)
      }
      some.append(key)
      bytes += more
    }
    if !some.isEmpty { runs.append((line(some), some.count)) }
    return runs
  }

  private func line(_ keys: [String]) -> [String] {
    words.flatMap { word in word.takesKey ? keys.map { word.text($0) } : [word.text("")] }
  }

  /// Why a key cannot be handed over, and what helps; nil if it can.
  func fault(of key: String) -> String? {
    let wayOut = "leave out '{key}', and read the keys from the line on standard input"
    if key.utf8.contains(0) { return "no argument can have its zero byte: \(wayOut)" }
    if words.contains(where: { $0.takesKey && $0.byteCount(key) > Self.argumentBytesMax }) {
      return "the key is longer than an argument can be, 128 KiB: \(wayOut)"
    }
    if isExposed, key.utf8.first == UInt8(ascii: "-") {
      return "the program would take the '-' at the beginning of the key for an option: write '--' "
        + "before '{key}' if the program knows it, or '--NAME={key}'"
    }
    return nil
  }
}
