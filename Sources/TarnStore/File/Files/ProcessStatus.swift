internal import CTarn
internal import Glibc
internal import Synchronization

/// A process's entry in `/proc`: for messages to people, and for decisions that are harmless if it
/// is wrong.
struct ProcessStatus: Equatable {
  /// As the system's tools show it.
  let name: String
  /// One letter: `T` for a stopped process, `t` for one that a debugger stopped.
  let state: String
  /// In clock ticks since boot, whatever the time namespace.
  let startTime: UInt64

  var isStopped: Bool { state == "T" || state == "t" }

  static var own: ProcessStatus? { ProcessStatus(in: "/proc/self") }

  /// The start time of this process; 0 if it is unknown. It never changes, so it is read once, and
  /// once more in a child of a fork.
  static var ownStartTime: UInt64 {
    let name = UInt64(tarn_fork_count()) + 1
    if knownOwner.load(ordering: .acquiring) == name { return known.load(ordering: .relaxed) }
    let time = own?.startTime ?? 0
    known.store(time, ordering: .relaxed)
    knownOwner.store(name, ordering: .releasing)
    return time
  }

  private static let known = Atomic<UInt64>(0)
  /// One more than the number of forks before the process that has read `known`.
  private static let knownOwner = Atomic<UInt64>(0)

  /// Nil if the process does not exist, or is not visible from here.
  static func of(_ processID: Int32) -> ProcessStatus? { ProcessStatus(in: "/proc/\(processID)") }

  private init?(in folder: String) {
    // "4711 (notes) S 1 …": a name may contain blanks and parentheses. Field 22 is the start.
    let text = ProcFile.bytes(of: folder + "/stat")
    guard let open = text.firstIndex(of: UInt8(ascii: "(")),
      let end = text.lastIndex(of: UInt8(ascii: ")")), open < end
    else { return nil }
    let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = Int64(String(decoding: fields[19], as: UTF8.self))
    else { return nil }
    name = String(decoding: text[(open + 1)..<end], as: UTF8.self)
    state = String(decoding: fields[0], as: UTF8.self)
    startTime = UInt64(max(0, start - Self.bootOffset()))
  }

  /// How many clock ticks this process's time namespace adds to the time since boot.
  private static func bootOffset() -> Int64 {
    let text = String(decoding: ProcFile.bytes(of: "/proc/self/timens_offsets"), as: UTF8.self)
    for line in text.splitASCII("\n") {
      let words = line.splitASCII(" ")
      guard words.count == 3, words[0] == "boottime", let seconds = Int64(words[1]),
        let nanoseconds = Int64(words[2])
      else { continue }
      let ticksPerSecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
      return seconds * ticksPerSecond + nanoseconds * ticksPerSecond / 1_000_000_000
    }
    return 0
  }
}

/// Files and folders of `/proc`.
enum ProcFile {
  /// The contents of the file; empty if this process cannot read it.
  static func bytes(of path: String) -> [UInt8] {
    guard let file = try? OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "open")
    else { return [] }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe read(file.raw, $0.baseAddress, $0.count)
      }
      if count <= 0 { return all }
      all += piece[..<count]
    }
  }

  /// The entries of the folder whose names are numbers; empty if this process cannot list them.
  static func numbers(in folder: String) -> [Int32] {
    guard let entries = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(entries) }
    var numbers: [Int32] = []
    while let entry = unsafe readdir(entries) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { start in
        unsafe start.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if let number = Int32(name) { numbers.append(number) }
    }
    return numbers
  }
}
