import CTarn
import Foundation

/// Names of properties that key paths lead to, for messages: from the symbols in the program's
/// file. A stripped program has none, and in an optimized one most getters of key paths have no
/// names of their own.
enum SymbolNames {
  /// The name of the property that a key path calls `thunk` for.
  static func property(readBy thunk: UnsafeRawPointer) -> String? {
    var base: UnsafeRawPointer?
    guard let file = tarn_image_of(thunk, &base), let base else { return nil }
    // The program itself may be called by a relative path.
    for path in [String(cString: file), "/proc/self/exe"] {
      let url = URL(fileURLWithPath: path)
      guard let bytes = try? Data(contentsOf: url, options: .alwaysMapped) else { continue }
      let symbol = bytes.withUnsafeBytes {
        Symbols(file: $0)?.name(of: UInt64(UInt(bitPattern: thunk)), loadedAt: base)
      }
      if let symbol { return propertyName(in: symbol) }
    }
    return nil
  }

  /// `negative` of "key path getter for Stable.Pony.negative : Swift.Int : Stable.Pony".
  private static func propertyName(in symbol: String) -> String? {
    guard let text = demangle(symbol, UInt(symbol.utf8.count), nil, nil, 0) else { return nil }
    defer { free(text) }
    let words = String(cString: text)
    let start = "key path getter for "
    guard words.hasPrefix(start) else { return nil }
    // Private ones stand in parentheses, "(negative in _0A1B…)".
    let path = words.dropFirst(start.count).components(separatedBy: " : ")[0]
    let last = path.split(separator: ".").last?.drop { $0 == "(" } ?? ""
    let name = String(last.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    return name.isEmpty ? nil : name
  }
}

/// Of the runtime, as debuggers use it.
@_silgen_name("swift_demangle")
private func demangle(
  _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// The symbol table of an ELF file.
private struct Symbols {
  private let file: UnsafeRawBufferPointer
  private let table: Range<Int>
  private let names: Range<Int>
  /// False for a program whose addresses are fixed.
  private let isRelocated: Bool

  /// Nil without a symbol table.
  init?(file: UnsafeRawBufferPointer) {
    self.file = file
    guard file.count > 64, file[0..<5].elementsEqual([0x7f, 0x45, 0x4c, 0x46, 2]) else {
      return nil
    }
    func number<T: FixedWidthInteger>(_: T.Type, _ place: Int) -> Int? {
      guard place >= 0, place <= file.count - MemoryLayout<T>.size else { return nil }
      return Int(exactly: file.loadUnaligned(fromByteOffset: place, as: T.self))
    }
    /// Where a section lies, with its type and the number of the section it belongs to.
    func section(_ index: Int, from start: Int) -> (type: Int, range: Range<Int>, link: Int)? {
      let place = start + 64 * index
      guard let type = number(UInt32.self, place + 4), let at = number(UInt64.self, place + 24),
        let size = number(UInt64.self, place + 32), let link = number(UInt32.self, place + 40),
        at <= file.count, size <= file.count - at
      else { return nil }
      return (type, at..<at + size, link)
    }
    guard let kind = number(UInt16.self, 16), let start = number(UInt64.self, 40),
      start <= file.count, let count = number(UInt16.self, 60),
      let table = (0..<count).lazy.compactMap({ section($0, from: start) })
        .first(where: { $0.type == 2 }),
      let names = section(table.link, from: start)
    else { return nil }
    isRelocated = kind == 3
    self.table = table.range
    self.names = names.range
  }

  func name(of address: UInt64, loadedAt base: UnsafeRawPointer) -> String? {
    let value = isRelocated ? address &- UInt64(UInt(bitPattern: base)) : address
    for place in stride(from: table.lowerBound, through: table.upperBound - 24, by: 24)
    where file.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self) == value {
      let offset = Int(file.loadUnaligned(fromByteOffset: place, as: UInt32.self))
      guard offset < names.count else { continue }
      let name = file[names].dropFirst(offset).prefix { $0 != 0 }
      if name.count > 2 { return String(decoding: name, as: UTF8.self) }
    }
    return nil
  }
}
