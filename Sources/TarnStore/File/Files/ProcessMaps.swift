internal import Glibc

/// This process's mappings of a file, from the kernel.
enum ProcessMaps {
  struct Mapping: Equatable {
    let start: UInt
    let end: UInt
    let fileOffset: UInt64
  }

  /// Shared mappings of the file in this process. Private ones do not count, because nothing can be
  /// committed through them.
  ///
  /// Errors: `.limitExceeded` if the process has no descriptor left.
  static func shared(of file: FileIdentity) throws(StorageError) -> [Mapping] {
    parse(try readAll(), file: file)
  }

  static func parse(_ text: [UInt8], file: FileIdentity) -> [Mapping] {
    let wantedMajor = ((file.device >> 8) & 0xfff) | ((file.device >> 32) & 0xffff_f000)
    let wantedMinor = (file.device & 0xff) | ((file.device >> 12) & 0xffff_ff00)
    var result: [Mapping] = []
    var rest = text[...]
    // start-end rwxs offset major:minor inode path
    while !rest.isEmpty {
      let start = number(&rest, radix: 16)
      let end = number(&rest, radix: 16)
      if rest.count > 5, rest[rest.startIndex + 3] == UInt8(ascii: "s") {
        rest = rest.dropFirst(5)
        let offset = number(&rest, radix: 16)
        let major = number(&rest, radix: 16)
        let minor = number(&rest, radix: 16)
        let inode = number(&rest, radix: 10)
        if inode == file.inode, major == wantedMajor, minor == wantedMinor {
          result.append(Mapping(start: UInt(start), end: UInt(end), fileOffset: offset))
        }
      }
      let newline = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      rest = rest[newline...].dropFirst()
    }
    return result
  }

  /// Consumes digits and the byte after them.
  private static func number(_ text: inout ArraySlice<UInt8>, radix: UInt64) -> UInt64 {
    var value: UInt64 = 0
    while let byte = text.popFirst() {
      switch byte {
      case 0x30...0x39: value = value &* radix &+ UInt64(byte - 0x30)
      case 0x61...0x66 where radix == 16: value = value &* radix &+ UInt64(byte - 0x57)
      default: return value
      }
    }
    return value
  }

  private static func readAll() throws(StorageError) -> [UInt8] {
    let file = try OwnedDescriptor(
      opening: "/proc/self/maps", flags: O_RDONLY, operation: "open")
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe read(file.raw, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return text }
      text.append(contentsOf: chunk[..<count])
    }
  }
}
