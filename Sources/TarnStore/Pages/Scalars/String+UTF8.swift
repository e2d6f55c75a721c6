extension String {
  /// The text of UTF-8; nil if the bytes are not. Several times as fast as `init(validating:as:)`,
  /// which is generic.
  package init?(utf8 bytes: UnsafeRawBufferPointer) {
    let text = unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes -> String? in
      guard let valid = try? UTF8Span(validating: unsafe bytes.span) else { return nil }
      return String(copying: valid)
    }
    guard let text else { return nil }
    self = text
  }

  package init?(utf8 bytes: [UInt8]) {
    let text = unsafe bytes.withUnsafeBytes { unsafe String(utf8: $0) }
    guard let text else { return nil }
    self = text
  }
}
