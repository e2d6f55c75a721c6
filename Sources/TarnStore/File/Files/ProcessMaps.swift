internal import Glibc

/// This process's mappings of a file, from the kernel.
enum ProcessMaps {
  struct Mapping: Equatable {
    let start: UInt
    let end: UInt
    let fileOffset: UInt64

    func contains(_ address: UInt) -> Bool { start <= address && address < end }
  }

  /// Shared mappings of the file in this process. Private ones do not count, because nothing can be
  /// committed through them.
  ///
  /// The kernel's list has the device of the file system, and `fstat` on Btrfs that of a subvolume.
  /// So the file is found by a page of it that is mapped meanwhile.
  ///
  /// Errors: `.limitExceeded` if the process has no descriptor left.
  static func shared(of descriptor: Int32) throws(StorageError) -> [Mapping] {
    let page = unsafe mmap(nil, 1, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let page = unsafe page, unsafe page != MAP_FAILED else {
      throw StorageError(errno: errno, operation: "map", path: "")
    }
    defer { unsafe munmap(page, 1) }
    return parse(try readAll(), fileAt: UInt(bitPattern: page))
  }

  /// The shared mappings of the file that is mapped at an address.
  static func parse(_ text: [UInt8], fileAt address: UInt) -> [Mapping] {
    var lines: [Line] = []
    var rest = text[...]
    while !rest.isEmpty { lines.append(line(&rest)) }
    guard let found = lines.first(where: { $0.mapping.contains(address) }) else { return [] }
    return lines.filter { $0.isShared && $0.file == found.file }.map(\.mapping)
  }

  private struct Line {
    var mapping: Mapping
    var isShared: Bool
    /// Major and minor number of the device, inode.
    var file: [UInt64]
  }

  /// Consumes a line: start-end rwxs offset major:minor inode path
  private static func line(_ text: inout ArraySlice<UInt8>) -> Line {
    let start = number(&text, radix: 16)
    let end = number(&text, radix: 16)
    let isShared = text.dropFirst(3).first == UInt8(ascii: "s")
    text = text.dropFirst(5)
    let offset = number(&text, radix: 16)
    let major = number(&text, radix: 16)
    let minor = number(&text, radix: 16)
    let inode = number(&text, radix: 10)
    let newline = text.firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
    text = text[newline...].dropFirst()
    return Line(
      mapping: Mapping(start: UInt(start), end: UInt(end), fileOffset: offset),
      isShared: isShared, file: [major, minor, inode])
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
