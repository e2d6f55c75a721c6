internal import Glibc

/// A process that has a lock on a file.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
  package let processID: Int32
  package let name: String
  /// No other lock on the same bytes is possible.
  package let isExclusive: Bool

  /// "process 4711 (notes)"
  package var description: String { "process \(processID) (\(name))" }
}

/// The processes that have a lock on a file, as far as this one can see: its user's processes and,
/// for root, all of them. The kernel lists each lock with the descriptors that hold it, in
/// `/proc/PID/fdinfo`; `/proc/locks` names no process for a lock that belongs to a descriptor.
///
/// For messages to people: it scans all processes, which takes milliseconds, and the result may be
/// outdated when it is read. A process in a container that is not visible from here is missing.
package enum LockHolders {
  /// The processes that have a lock on any of the bytes, in the order of their ids, including this
  /// process and children that share a descriptor with it.
  ///
  /// - Parameter bytes: the bytes whose locks count; nil for all.
  package static func of(_ file: FileIdentity, bytes: ClosedRange<Int64>? = nil) -> [LockHolder] {
    ProcFile.numbers(in: "/proc").sorted().compactMap { processID in
      let locks = locks(of: processID, on: file).filter { lock in
        bytes.map { lock.bytes.overlaps($0) } ?? true
      }
      // A process that ended meanwhile holds nothing.
      guard !locks.isEmpty, let status = ProcessStatus.of(processID) else { return nil }
      return LockHolder(
        processID: processID, name: status.name, isExclusive: locks.contains { $0.isExclusive })
    }
  }

  /// The same as a list for a sentence, "process 4711 (notes), process 4712 (cat)"; nil if none is
  /// visible.
  package static func text(
    of file: FileIdentity, bytes: ClosedRange<Int64>? = nil
  ) -> String? {
    let holders = of(file, bytes: bytes)
    return holders.isEmpty ? nil : holders.map(\.description).joined(separator: ", ")
  }

  private static func locks(of processID: Int32, on file: FileIdentity) -> [FileLock] {
    ProcFile.numbers(in: "/proc/\(processID)/fdinfo").flatMap { descriptor -> [FileLock] in
      let text = ProcFile.bytes(of: "/proc/\(processID)/fdinfo/\(descriptor)")
      let locks = String(decoding: text, as: UTF8.self).splitASCII("\n")
        .compactMap { FileLock(line: $0) }
      // A lock's line identifies the file by numbers that some file systems do not report in
      // `stat`.
      guard !locks.isEmpty,
        FileFacts.at("/proc/\(processID)/fd/\(descriptor)")?.identity == file
      else { return [] }
      return locks
    }
  }
}

/// A lock on bytes of a file, as a line of `fdinfo`.
struct FileLock: Equatable {
  let isExclusive: Bool
  let bytes: ClosedRange<Int64>

  init(isExclusive: Bool, bytes: ClosedRange<Int64>) {
    self.isExclusive = isExclusive
    self.bytes = bytes
  }

  /// "lock:\t1: OFDLCK ADVISORY  WRITE -1 08:02:1234 0 EOF". Nil for other lines, and for locks
  /// that are not on bytes (`flock`, leases).
  init?(line: Substring) {
    let words = line.split { $0 == " " || $0 == "\t" }
    guard words.count == 9, words[0] == "lock:", words[2] == "OFDLCK" || words[2] == "POSIX",
      let first = Int64(words[7])
    else { return nil }
    let last = words[8] == "EOF" ? Int64.max : Int64(words[8])
    guard let last, last >= first else { return nil }
    isExclusive = words[4] == "WRITE"
    bytes = first...last
  }
}
