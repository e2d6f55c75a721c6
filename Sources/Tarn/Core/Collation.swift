import TarnStore

/// How text is put in order: what a ``SortDescriptor`` says of a property that is text.
///
///     dogs.sorted(by: \.name, collation: .localized(Locale(identifier: "sv")))
///
/// It is for showing objects to people. Objects are kept, found and compared byte by byte all the
/// same, so an index gives no order but that of bytes, and any other one takes a sort. Objects
/// whose texts are equal under a collation follow each other by what is sorted by next, then by the
/// bytes of the texts, then as objects that are equal do.
public struct Collation: Hashable, Sendable {
  let store: TarnStore.Collation

  /// Byte by byte as UTF-8: "Z" before "a", and "z" before "ä". What holds where nothing is said.
  public static let bytes = Collation(store: .bytes)
  /// Whatever the case, by the case folding of Unicode, and in no language's order: "a", "B", "ä".
  public static let caseInsensitive = Collation(store: .ignoring(.caseInsensitive))
}
