public import Foundation

extension Collation {
  /// Without regard to case, diacritics or both; else byte by byte.
  public static func ignoring(_ options: StringOptions) -> Collation {
    Collation(store: options.store.isEmpty ? .bytes : .ignoring(options.store))
  }

  /// As a dictionary of a language has it: "ä" behind "z" in Swedish, beside "a" in German.
  ///
  /// The rules are those of the Unicode Collation Algorithm and CLDR, in the version that Debian's
  /// ICU has on this machine. For a locale that it does not know they are those of its language, or
  /// else of none.
  ///
  /// - Parameters:
  ///   - locale: the language, with its country or variant: `sv`, `de_AT`.
  ///   - ignored: what decides nothing. Else diacritics, then case decide between texts with the
  ///     same letters, the lower case first.
  ///   - numeric: digits are put in order as numbers: "2" before "10".
  public static func localized(
    _ locale: Locale, ignoring ignored: StringOptions = [], numeric: Bool = false
  ) -> Collation {
    Collation(
      store: .localized(locale.identifier, ignoring: ignored.store, isNumeric: numeric))
  }
}
