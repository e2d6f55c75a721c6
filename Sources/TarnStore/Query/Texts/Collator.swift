internal import CTarn

/// The order of strings.
package enum Collation: Hashable, Sendable {
  /// Byte by byte, as UTF-8.
  case bytes
  /// By bytes, without the differences that the options ignore.
  case ignoring(StringOptions)
  /// By the rules of a language, from ICU.
  case localized(String, ignoring: StringOptions, isNumeric: Bool)
}

/// Creates sort keys whose bytes compare like the strings under a collation. Any thread may use it.
final class Collator: Hashable, Sendable {
  private let collation: Collation
  private let rules: CollationRules?

  /// Nil for the order of bytes, which needs no keys.
  init?(_ collation: Collation) {
    self.collation = collation
    switch collation {
    case .bytes: return nil
    case .ignoring: rules = nil
    case .localized(let locale, let ignored, let isNumeric):
      rules = CollationRules(locale, ignored, isNumeric: isNumeric)
    }
  }

  static func == (a: Collator, b: Collator) -> Bool { a.collation == b.collation }
  func hash(into hasher: inout Hasher) { hasher.combine(collation) }

  /// The key of a UTF-8 string.
  func key(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    switch collation {
    case .bytes: unsafe [UInt8](bytes)
    case .ignoring(let options):
      unsafe TextPattern.withFolded(bytes, options) { unsafe [UInt8]($0) }
    case .localized: unsafe rules?.key(of: String(decoding: bytes, as: UTF8.self)) ?? []
    }
  }
}

/// The rules of a language. because: several threads may use an ICU collator at once as long as it
/// is not changed.
@safe private final class CollationRules: @unchecked Sendable {
  private let rules: OpaquePointer

  init(_ locale: String, _ ignored: StringOptions, isNumeric: Bool) {
    let found = unsafe tarn_collator_open(
      locale, ignored.contains(.caseInsensitive), ignored.contains(.diacriticInsensitive), isNumeric
    )
    guard let found = unsafe found else {
      trap("There are no rules to sort strings by. Is the data of libicu installed?")
    }
    unsafe rules = found
  }

  deinit { unsafe tarn_collator_close(rules) }

  func key(of text: String) -> [UInt8] {
    let units = Array(text.utf16)
    let length = Int32(clamping: units.count)
    // Most keys have about as many bytes as the string has letters on three levels.
    var capacity = 3 * units.count + 32
    while true {
      var needed = 0
      let key = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { key, count in
        needed = Int(
          unsafe tarn_collator_key(
            rules, units, length, key.baseAddress, Int32(clamping: key.count)))
        // Without the terminating zero.
        count = needed <= key.count ? max(0, needed - 1) : 0
      }
      if needed <= capacity { return key }
      capacity = needed
    }
  }
}
