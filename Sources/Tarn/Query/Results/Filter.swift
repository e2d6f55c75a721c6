import TarnStore

/// A filter string with its arguments, checked against a class when it is made.
///
/// ```swift
/// let old = try Filter<Dog>("age > %@ AND name CONTAINS[c] %@", 5, text)
/// let dogs = realm.objects(Dog.self).filter(old)
/// let puppies = person.dogs.filter(old)
/// ```
///
/// Make it where a string from outside arrives, and handle the error there: applying it does not
/// fail then. Its syntax is that of ``RealmCollection/filter(_:_:)``. It knows the class and those
/// that its properties link to, so the names are the program's, and `@links` can name no others.
public struct Filter<Root: KeypathSortable> {
  let text: FilterText

  /// Parses a filter string for objects of a class, or for their projections.
  ///
  /// - Throws: `Realm.Error.invalidInput` with the problem and the character where it is, as
  ///   ``RealmCollection/filtered(_:_:)``.
  public init(_ format: String, _ arguments: Any?...) throws {
    text = FilterText(format, arguments)
    _ = try text.predicate(on: Root._objectType, among: UnmanagedRows(Root._objectType))
  }
}

@available(*, unavailable, message: "its arguments may be objects: make it where it is used")
extension Filter: Sendable {}

extension FilterText {
  /// The condition on unmanaged objects of a class.
  func predicate(
    on type: ObjectBase.Type, among rows: UnmanagedRows
  ) throws(Realm.Error) -> Predicate {
    try predicate(on: "'\(type.className())'", nil, renamed: QuerySpec(type).path) {
      (parsed) throws(PredicateSyntaxError) in
      try parsed.check(on: ClassID(0), in: rows.schema.schema)
    }
  }
}

extension RealmCollection where Element: KeypathSortable {
  /// The objects that match a filter, in the order of the collection.
  ///
  /// Traps for an unmanaged or invalidated collection, and for a filter that compares with a
  /// deleted object or one of another Realm.
  public func filter(_ filter: Filter<Element>) -> Results<Element> {
    let base = _derivation
    return Results(
      base.core, base.filteredOrTrap(filter.text), createdInWrite: base.createdInWrite)
  }
}
