internal import CTarn

/// How text is put in order.
package enum Collation: Hashable, Sendable {
  /// Byte by byte, as UTF-8.
  case bytes
  /// The same after that is taken out which does not count.
  case ignoring(StringOptions)
  /// As in a language, by the rules of ICU.
  case localized(String, ignoring: StringOptions, isNumeric: Bool)
}

/// Gives texts keys that order byte by byte as the texts do under a collation. Any thread may use
/// it.
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

  /// The key of a text in UTF-8.
  func key(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    switch collation {
    case .bytes: unsafe [UInt8](bytes)
    case .ignoring(let options):
      unsafe TextPattern.withFolded(bytes, options) { unsafe [UInt8]($0) }
    case .localized: unsafe rules?.key(of: String(decoding: bytes, as: UTF8.self)) ?? []
    }
  }
}

/// The rules of a language.
// because: ICU's collators may be asked by several threads at once as long as nobody changes them.
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
    // Most keys have about as many bytes as the text has letters in three levels.
    var capacity = 3 * units.count + 32
    while true {
      var needed = 0
      let key = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { key, count in
        needed = Int(
          unsafe tarn_collator_key(
            rules, units, length, key.baseAddress, Int32(clamping: key.count)))
        // Without the zero behind it.
        count = needed <= key.count ? max(0, needed - 1) : 0
      }
      if needed <= capacity { return key }
      capacity = needed
    }
  }
}
