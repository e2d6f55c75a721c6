internal import Foundation

/// A condition on the bytes of a string or data, prepared once.
package final class TextPattern: Hashable, Sendable {
  /// How values compare with the operand; never `notEqual`. `in`: equal to one of several.
  package let op: ComparisonOperator
  /// The operand, folded if options ignore something; empty for `in`.
  package let needle: [UInt8]
  /// For `in`, ascending.
  package let needles: [[UInt8]]
  /// The ignored differences.
  package let options: StringOptions

  init(_ op: ComparisonOperator, _ needle: [UInt8], _ options: StringOptions = []) {
    self.op = op
    self.needle = Self.folded(needle, options)
    needles = []
    self.options = options
  }

  init(anyOf needles: [[UInt8]], _ options: StringOptions = []) {
    op = .in
    needle = []
    let folded = needles.map { Self.folded($0, options) }
    self.needles = Set(folded).sorted { $0.lexicographicallyPrecedes($1) }
    self.options = options
  }

  package static func == (a: TextPattern, b: TextPattern) -> Bool {
    a === b
      || (a.op == b.op && a.needle == b.needle && a.needles == b.needles
        && a.options == b.options)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(op)
    hasher.combine(needle)
    hasher.combine(needles)
    hasher.combine(options)
  }

  /// Whether a value of that many bytes can match at all; saves fetching a long one.
  func mayMatch(length: Int) -> Bool {
    // Folded strings may be shorter or longer in bytes.
    if !options.isEmpty { return true }
    switch op {
    case .equal: return length == needle.count
    case .contains, .beginsWith, .endsWith: return length >= needle.count
    case .in: return needles.contains { $0.count == length }
    case .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .like: return true
    }
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !options.isEmpty else { return unsafe matchesExactly(bytes) }
    return unsafe Self.withFolded(bytes, options) { unsafe matchesExactly($0) }
  }

  func matches(_ bytes: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe matches($0) }
  }

  private func matchesExactly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if op == .in { return unsafe isMember(bytes) }
    return unsafe needle.withUnsafeBytes { unsafe op.acceptsExactly(bytes, $0) }
  }

  private func isMember(_ bytes: UnsafeRawBufferPointer) -> Bool {
    needles.indices.search { index in
      unsafe needles[index].withUnsafeBytes { unsafe compareBytes($0, bytes) }
    }.isFound
  }
}

// MARK: - Bytes

extension TextPattern {
  @inline(__always)
  static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe compareBytes(a, b) == 0
  }

  static func begins(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard unsafe !part.isEmpty, part.count <= text.count else { return false }
    return unsafe areEqual(UnsafeRawBufferPointer(rebasing: text[..<part.count]), part)
  }

  static func ends(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard unsafe !part.isEmpty, part.count <= text.count else { return false }
    let start = text.count - part.count
    return unsafe areEqual(UnsafeRawBufferPointer(rebasing: text[start...]), part)
  }

  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard let first = unsafe part.first, part.count <= text.count else { return false }
    for start in 0...(text.count - part.count) where unsafe text[start] == first {
      let window = unsafe UnsafeRawBufferPointer(rebasing: text[start..<start + part.count])
      if unsafe areEqual(window, part) { return true }
    }
    return false
  }
}

extension ComparisonOperator {
  /// Whether the comparison of strings or data is true.
  func accepts(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ options: StringOptions
  ) -> Bool {
    guard !options.isEmpty else { return unsafe acceptsExactly(a, b) }
    return unsafe TextPattern.withFolded(a, options) { a in
      unsafe TextPattern.withFolded(b, options) { b in unsafe acceptsExactly(a, b) }
    }
  }

  /// Whether the comparison of strings or data is true, byte by byte.
  func acceptsExactly(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .equal: unsafe TextPattern.areEqual(a, b)
    case .contains: unsafe TextPattern.contains(a, b)
    case .beginsWith: unsafe TextPattern.begins(a, b)
    case .endsWith: unsafe TextPattern.ends(a, b)
    case .like: unsafe TextPattern.isLike(a, b)
    default: unsafe accepts(compareBytes(a, b))
    }
  }

  /// Whether the comparison is true for sides that sort in this way (negative, zero or positive).
  @inline(__always)
  func accepts(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    case .contains, .beginsWith, .endsWith, .like, .in: false
    }
  }
}

// MARK: - Case and diacritics

extension TextPattern {
  /// Removes ignored characters: strings that differ only in these become equal.
  static func folded(_ bytes: [UInt8], _ options: StringOptions) -> [UInt8] {
    if options.isEmpty { return bytes }
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe withFolded(bytes, options) { unsafe [UInt8]($0) }
    }
  }

  /// ASCII is folded here, which is fast; other strings by Foundation.
  static func withFolded<R>(
    _ bytes: UnsafeRawBufferPointer, _ options: StringOptions,
    _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    guard unsafe isASCII(bytes) else {
      var folded = unsafe String(decoding: bytes, as: UTF8.self)
        .folding(options: options.compareOptions, locale: nil)
      return folded.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
    }
    guard options.contains(.caseInsensitive) else { return unsafe body(bytes) }
    return unsafe withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
      for index in 0..<bytes.count {
        unsafe buffer[index] = lowerASCII(bytes[index])
      }
      return unsafe body(UnsafeRawBufferPointer(buffer))
    }
  }

  @inline(__always)
  static func lowerASCII(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }

  static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var seen: UInt8 = 0
    for index in 0..<bytes.count { unsafe seen |= bytes[index] }
    return seen < 0x80
  }
}

extension StringOptions {
  fileprivate var compareOptions: String.CompareOptions {
    var options: String.CompareOptions = []
    if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    return options
  }
}
