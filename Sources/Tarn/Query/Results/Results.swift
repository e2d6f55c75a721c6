public import Foundation
import TarnStore

/// The objects of a class or of a list, set or other collection that match a query, in the query's
/// order; or the values of a collection in another order. Lazy and live.
///
/// Nothing is evaluated before the first use. From then on the collection is always at the version
/// of its Realm, including changes of an open write; it changes when the Realm advances. A loop
/// iterates the elements that existed when it began. When the object that has the list is deleted,
/// its results become empty.
///
/// Belongs to its Realm's thread, queue or actor.
public struct Results<Element: RealmCollectionValue> {
  private let source: ResultSource
  /// The instance's life that the collection belongs to; `invalidate()` ends it.
  private let life: UInt32
  /// The write that created the object whose collection the rows are from.
  let createdInWrite: WriteMark?

  init(_ core: RealmCore, _ spec: QuerySpec, createdInWrite: WriteMark? = nil) {
    source = ResultSource(core, spec)
    self.createdInWrite = createdInWrite
    life = core.state.life
  }

  var core: RealmCore { source.core }
  var spec: QuerySpec { source.spec }
  var note: AnyObject? {
    get { source.note }
    nonmutating set { source.note = newValue }
  }
  /// The rows that equal queries share.
  var live: LiveResult { source.shared }
  var model: ResultModel { source.model }

  /// The Realm that the elements belong to.
  public var realm: Realm? { Realm(core) }

  /// True if the Realm was invalidated. Any other use of the collection then traps.
  public var isInvalidated: Bool {
    core.checkThread()
    return core.hasEnded(life)
  }

  func check() {
    if let tracking = core.tracking { tracking.note(live) }
    require(
      !isInvalidated,
      "This Results<\(Element.self)> has been invalidated with its Realm; query again."
    )
  }

  func rows() -> ResultRows {
    check()
    return source.live.current(createdInWrite: createdInWrite)
  }

  /// The same collection in the instance's present life.
  func revived() -> Results {
    isInvalidated ? Results(core, spec, createdInWrite: createdInWrite) : self
  }
}

extension Results: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The number of elements.
  public var count: Int {
    check()
    let live = source.live
    if let counted = live.countWithoutRows(core.rows()) { return counted }
    return live.current(createdInWrite: createdInWrite).count
  }

  /// The element at a position. Traps if it is out of bounds.
  @inlinable public subscript(position: Int) -> Element {
    Element._isObject ? Element._element(of: object(at: position)) : value(at: position)
  }

  /// The first element, or nil.
  @inlinable public var first: Element? {
    if Element._isObject { return objectIfAny(atEnd: false).map { Element._element(of: $0) } }
    return isEmpty ? nil : value(at: 0)
  }

  /// The last element, or nil.
  @inlinable public var last: Element? {
    if Element._isObject { return objectIfAny(atEnd: true).map { Element._element(of: $0) } }
    return isEmpty ? nil : value(at: count - 1)
  }

  @usableFromInline func object(at position: Int) -> ObjectBase {
    let rows = rows()
    Bounds.check(position, rows.count, of: self)
    return core.object(rows.key(at: position), core.binding(of: spec))
  }

  @usableFromInline func objectIfAny(atEnd isLast: Bool) -> ObjectBase? {
    check()
    let live = source.live
    if let end = live.endWithoutRows(isLast: isLast, core.rows()) {
      return end.map { core.object($0, core.binding(of: spec)) }
    }
    let rows = live.current(createdInWrite: createdInWrite)
    let count = rows.count
    if count == 0 { return nil }
    return core.object(rows.key(at: isLast ? count - 1 : 0), core.binding(of: spec))
  }

  @usableFromInline func value(at position: Int) -> Element {
    let rows = rows()
    Bounds.check(position, rows.count, of: self)
    guard let value = rows.value(at: position) else {
      trap("internal error: objects are not values")
    }
    return typedElement(core.boxed(value, of: spec, createdInWrite: createdInWrite))
  }

  /// The element at a position of rows that were read before. It must exist.
  func element(at position: Int, of rows: ResultRows) -> Element {
    core.element(at: position, of: rows, spec, createdInWrite: createdInWrite)
  }

  /// The rows now.
  ///
  /// - Throws: instead of trapping, where a file is damaged.
  func currentRows() throws(StorageError) -> ResultRows {
    check()
    return try source.live.current()
  }

  /// An element from its stored value.
  func element(_ value: Value) -> Element {
    core.element(value, of: spec, createdInWrite: createdInWrite)
  }

  /// Iterates the current elements, whatever happens to them meanwhile.
  public struct Iterator: IteratorProtocol {
    @usableFromInline var walk: ResultWalk

    init(_ results: Results) {
      walk = ResultWalk(
        results.core, results.spec, results.rows(), createdInWrite: results.createdInWrite)
    }

    @inlinable public mutating func next() -> Element? {
      if Element._isObject {
        guard let object = walk.nextObject() else { return nil }
        return Element._element(of: object)
      }
      guard let value = walk.nextValue() else { return nil }
      return Element._element(ofBoxed: value)
    }
  }

  public func makeIterator() -> Iterator { Iterator(self) }
}

/// Iterates rows, and makes objects from them one by one.
@usableFromInline struct ResultWalk {
  private static var chunk: Int { 256 }

  private let core: RealmCore
  private let spec: QuerySpec
  private let rows: ResultRows
  private let createdInWrite: WriteMark?
  private var keys: [ObjectKey] = []
  private var cursor = 0
  private var fetched = 0

  init(_ core: RealmCore, _ spec: QuerySpec, _ rows: ResultRows, createdInWrite: WriteMark?) {
    self.core = core
    self.spec = spec
    self.rows = rows
    self.createdInWrite = createdInWrite
  }

  @usableFromInline mutating func nextObject() -> ObjectBase? {
    if cursor == keys.count {
      let end = Swift.min(fetched + Self.chunk, rows.count)
      guard fetched < end else { return nil }
      keys = rows.keys(in: fetched..<end)
      fetched = end
      cursor = 0
    }
    defer { cursor += 1 }
    return core.object(keys[cursor], core.binding(of: spec))
  }

  @usableFromInline mutating func nextValue() -> _BoxedValue? {
    guard cursor < rows.count, let value = rows.value(at: cursor) else { return nil }
    defer { cursor += 1 }
    return core.boxed(value, of: spec, createdInWrite: createdInWrite)
  }
}

extension RealmCore {
  /// The collection that results of values are from.
  func sequence(of spec: QuerySpec, createdInWrite: WriteMark?) -> ManagedSequence {
    guard let values = spec.values, case .sequence(let place)? = spec.origin else {
      trap("internal error: objects are not values")
    }
    return ManagedSequence(
      self, values.property, values.kind, at: place, createdInWrite: createdInWrite)
  }

  /// The element of a stored value.
  fileprivate func element<Element: RealmCollectionValue>(
    _ value: Value, of spec: QuerySpec, createdInWrite: WriteMark?
  ) -> Element {
    if Element._isObject, spec.values == nil, case .link(let key) = value {
      return Element._element(of: object(key, binding(of: spec)))
    }
    return typedElement(boxed(value, of: spec, createdInWrite: createdInWrite))
  }

  /// The element at a position of rows, in the program's type.
  func element<Element: RealmCollectionValue>(
    at position: Int, of rows: ResultRows, _ spec: QuerySpec, createdInWrite: WriteMark?
  ) -> Element {
    guard let value = rows.value(at: position) else {
      return Element._element(of: object(rows.key(at: position), binding(of: spec)))
    }
    return typedElement(boxed(value, of: spec, createdInWrite: createdInWrite))
  }

  /// A value of results in the program's type.
  fileprivate func boxed(_ value: Value, of spec: QuerySpec, createdInWrite: WriteMark?)
    -> _BoxedValue
  {
    switch value {
    case .link, .object, .list, .map:
      sequence(of: spec, createdInWrite: createdInWrite).boxed(value)
    default: _BoxedValue(value)
    }
  }
}

extension Results: PositionedCollection {
  var observed: ObservedPositions<Results, Element> {
    check()
    return ObservedPositions(
      core: core, source: live, isDynamic: Element.self == DynamicObject.self
    ) {
      revived()
    } element: {
      element($0)
    }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension Results: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension Results.Iterator: Sendable {}

extension Results {
  public func _counterpart(in realm: Realm) -> Results? {
    let other = realm.core
    if let owner = spec.origin?.owner, !other.has(owner) { return nil }
    return Results(other, spec)
  }
}

extension Results: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}

extension AnyRealmCollection: Encodable where Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    try encoder.encode(elementsOf: self)
  }
}

extension Results {
  /// Describes how the objects are found: the index or primary key, or the reason why a scan is
  /// quicker, the tests of each object, the source of the order, how a commit updates the results
  /// once they are evaluated, and how it finds them once they are observed.
  ///
  ///     print(dogs.where { $0.age == 5 }.sorted(by: \.name).explain())
  ///     // find: the index on 'age': at most 120 of 1000000 objects
  ///     // test: nothing is left to test
  ///     // order: sorted after they are found
  ///     // keep: each commit changes the rows that it touches
  ///     // route: changes find it by age == 5
  ///
  /// The choice is made whenever the collection is evaluated, by counting entries of indexes;
  /// `explain` makes it for the Realm's current version and evaluates nothing. The wording is for
  /// people and may change.
  public func explain() -> String {
    check()
    return trapping { () throws(StorageError) in try model.explanation(core.rows()) }
      .joined(separator: "\n")
  }
}

extension Results: PropertyAggregating {
  /// An aggregate of a property, computed from its column. The objects' values are read one by one
  /// only of an `AnyRealmValue` property, whose values the store does not add up.
  func storedAggregate(_ kind: AggregateTerm.Kind, of property: String) -> Value {
    check()
    require(
      spec.values == nil, "Elements of type '\(Element.self)' have no property '\(property)'.")
    let names = PathText.names(in: property)
    let reflection = core.binding(of: spec).reflection
    let found = names.count == 1 ? reflection.property(names[0]) : nil
    found?.requireAggregate(kind, names[0])
    if let found, found.type == .any, found.collection == .none {
      return ValueFold(of: self, elements: Element.self, property: property, for: kind).value(kind)
    }
    let name = found.map { PathText.text(of: [$0.columnName]) } ?? property
    let groups: GroupQuery
    do {
      groups = try GroupQuery(
        model.query, by: nil, [AggregateTerm(kind, of: name)], core.shown().schema.schema)
    } catch {
      trap("Invalid aggregate on '\(spec.type)': \(error)")
    }
    let source = core.rows()
    return trapping { () throws(StorageError) in
      if model.window == nil, case .query = model.source {
        return try groups.values(of: nil, source)[0]
      }
      let rows = rows()
      return try groups.values(of: rows.keys(in: 0..<rows.count), source)[0]
    }
  }
}

extension Results {
  /// The first position of an element, or nil if it is not among the results. Objects are the same
  /// if they have the same row of this Realm. Traps for a deleted object.
  public func index(of element: Element) -> Int? {
    let rows = rows()
    let boxed = element._boxElement()
    if let values = rows.values {
      return core.sequence(of: spec, createdInWrite: createdInWrite).sought(boxed).flatMap(
        values.position)
    }
    guard let object = boxed.object, object._core === core else { return nil }
    object.requirePosition()
    guard type(of: object) == spec.type, object._binding?.classID == model.query.classID
    else { return nil }
    return rows.position(of: ObjectKey(object._key))
  }

  /// The elements at those positions. Traps if one of them is out of bounds.
  public func objects(at positions: IndexSet) -> [Element] { positions.map { self[$0] } }
}

extension Results where Element: KeypathSortable {
  /// The position of the first object that meets a condition, or nil.
  func index(of condition: TarnStore.Predicate) -> Int? {
    let rows = rows()
    let predicate: ResolvedPredicate
    do {
      predicate = try ResolvedPredicate(
        condition, on: model.query.classID, in: core.shown().schema.schema)
    } catch {
      trap("Invalid query on '\(spec.type)': \(error)")
    }
    let source = core.rows()
    return trapping { () throws(StorageError) in
      for position in 0..<rows.count
      where try predicate.matches(rows.key(at: position), in: source) {
        return position
      }
      return nil
    }
  }
}

extension Results: Equatable {
  /// True if both belong to one Realm instance and have the same query.
  public static func == (a: Results, b: Results) -> Bool {
    a.core === b.core && a.spec == b.spec
  }
}

extension Results: RealmCollection, DumpedCollection {
  func append(to dump: inout TextDump) { append("Results<\(Element.textOfType)>", to: &dump) }
}
