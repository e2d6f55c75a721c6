public import Foundation

extension SortDescriptor {
  /// Sorts by a property of a class, such as `\Dog.age`. Traps if it is not `@Persisted`.
  public init<T: KeypathSortable>(
    keyPath: PartialKeyPath<T>, ascending: Bool = true, collation: Collation = .bytes
  ) {
    self.init(keyPath, ascending: ascending, collation: collation, for: .order)
  }

  init<T: KeypathSortable>(
    _ keyPath: PartialKeyPath<T>, ascending: Bool = true, collation: Collation = .bytes,
    for use: KeyPathFault.Use
  ) {
    self.init(
      keyPath: T.properties(along: keyPath, for: use).columnName, ascending: ascending,
      collation: collation)
  }
}

extension Collation {
  /// Ignores case, diacritics or both; otherwise byte by byte.
  public static func ignoring(_ options: StringOptions) -> Collation {
    Collation(store: options.store.isEmpty ? .bytes : .ignoring(options.store))
  }

  /// The order of a language's dictionaries: "ä" after "z" in Swedish, next to "a" in German.
  ///
  /// The rules are those of the Unicode Collation Algorithm and CLDR, in the version of this
  /// machine's ICU package. An unknown locale has the rules of its language, or else the default
  /// ones.
  ///
  /// - Parameters:
  ///   - locale: the language, with its country or variant: `sv`, `de_AT`.
  ///   - ignored: the differences to ignore. Otherwise diacritics, then case decide between strings
  ///     with the same letters, lower case first.
  ///   - numeric: digits are ordered as numbers: "2" before "10".
  public static func localized(
    _ locale: Locale, ignoring ignored: StringOptions = [], numeric: Bool = false
  ) -> Collation {
    Collation(
      store: .localized(locale.identifier, ignoring: ignored.store, isNumeric: numeric))
  }
}
