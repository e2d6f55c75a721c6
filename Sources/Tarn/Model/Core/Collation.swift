import TarnStore

/// The order of strings in a ``SortDescriptor``.
///
///     dogs.sorted(by: \.name, collation: .localized(Locale(identifier: "sv")))
///
/// It affects sorting only. Objects are stored, found and compared byte by byte, so an index gives
/// no order but that of bytes, and any other order takes a sort. Objects whose strings are equal
/// under a collation are ordered by the next sort key, then by the bytes of the strings, then like
/// equal objects.
public struct Collation: Hashable, Sendable {
  let store: TarnStore.Collation

  /// Byte by byte as UTF-8: "Z" before "a", and "z" before "ä". The default.
  public static let bytes = Collation(store: .bytes)
  /// Ignores case, by the case folding of Unicode, independent of any language: "a", "B", "ä".
  public static let caseInsensitive = Collation(store: .ignoring(.caseInsensitive))
}
