/// Paths as Strings.
///
/// The system's paths are bytes, in any encoding; a String is UTF-8. A byte that is not part of
/// UTF-8 becomes the private character U+10FF00 plus the byte, and so does each byte of such a
/// character, so that two paths are never one String. `withPath` restores the bytes.
extension String {
  private static let escapes: ClosedRange<UInt32> = 0x10ff80...0x10ffff
  private static let firstByteOfEscape: UInt8 = 0xf4

  /// - Parameter path: the bytes of a path, which end with a zero.
  package init(path: UnsafePointer<CChar>) {
    if let text = unsafe String(validatingCString: path), !text.escapesBytes {
      self = text
      return
    }
    var bytes: [UInt8] = []
    var next = unsafe path
    while unsafe next.pointee != 0 {
      bytes.append(UInt8(bitPattern: unsafe next.pointee))
      unsafe next += 1
    }
    self = String.escaping(bytes)
  }

  private static func escaping(_ bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    func escape(_ bytes: ArraySlice<UInt8>) {
      for byte in bytes { text.append(Unicode.Scalar(0x10ff00 | UInt32(byte))!) }
    }
    var parser = Unicode.UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var place = 0
    while true {
      switch parser.parseScalar(from: &input) {
      case .valid(let encoded):
        let scalar = Unicode.UTF8.decode(encoded)
        let end = place + encoded.count
        if escapes.contains(scalar.value) {
          escape(bytes[place..<end])
        } else {
          text.append(scalar)
        }
        place = end
      case .error(let length):
        escape(bytes[place..<place + length])
        place += length
      case .emptyInput: return String(text)
      }
    }
  }

  /// Whether it represents a path with bytes that are not UTF-8.
  package var escapesBytes: Bool {
    utf8.contains(Self.firstByteOfEscape)
      && unicodeScalars.contains { Self.escapes.contains($0.value) }
  }

  /// The byte that a character of a path represents; nil for an ordinary character.
  package static func escapedByte(_ scalar: Unicode.Scalar) -> UInt8? {
    escapes.contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }

  /// The bytes of the path, without a zero at the end.
  package var pathBytes: [UInt8] {
    guard escapesBytes else { return Array(utf8) }
    return unicodeScalars.flatMap { scalar in
      Self.escapedByte(scalar).map { [$0] } ?? Array(String(scalar).utf8)
    }
  }

  /// Calls `body` with the bytes of the path, which end with a zero.
  package func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard escapesBytes else { return unsafe withCString(body) }
    let bytes = (pathBytes + [0]).map { CChar(bitPattern: $0) }
    return unsafe bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
