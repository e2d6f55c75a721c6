import Foundation
import TarnStore

/// The elements of a collection of a managed object: a view at the version of the object's Realm.
///
/// It stores the row and the column and does not retain the object, so that objects and their
/// collections do not retain each other. The view is looked up again when the instance has
/// advanced, and cached until then.
final class ManagedSequence: SequenceBacking, StoredElements {
  let place: SequencePlace
  let instance: RealmCore
  let property: PropertyReflection
  let kind: CollectionKind
  /// The instance's life that the object belongs to; `invalidate()` ends it.
  private let life: UInt32
  /// The write that made the object, while it was open: cancelling it invalidates the collection.
  let createdInWrite: WriteMark?
  /// The view that was used last. The instance clears it when rows move, because a collection that
  /// the program holds must not keep a version in the file.
  private var known: SequenceView?
  /// The treatment of unmanaged objects whose primary key exists.
  var update = Realm.UpdatePolicy.error

  /// - Precondition: the object is managed, and the column is a collection or mixed.
  /// - Parameter dynamicProperty: the property as dynamic objects have it, for dynamic elements.
  init(
    _ owner: ObjectBase, _ column: ColumnID, as dynamicProperty: PropertyReflection? = nil
  ) {
    guard let core = owner._core, let binding = owner._binding,
      let property = dynamicProperty ?? binding.property(column)
    else {
      trap("internal error: not a collection of a managed object")
    }
    instance = core
    self.property = property
    kind = property.collection
    place = SequencePlace(
      classID: binding.classID, key: ObjectKey(owner._key), column: column, nested: nil)
    life = owner._life
    createdInWrite = owner._createdInWrite
  }

  /// The collection at a place, for elements that are not objects of one class.
  init(
    _ core: RealmCore, _ property: PropertyReflection, _ kind: CollectionKind,
    at place: SequencePlace, createdInWrite: WriteMark?
  ) {
    instance = core
    self.property = property
    self.kind = kind
    self.place = place
    life = core.state.life
    self.createdInWrite = createdInWrite
  }

  var ownInstance: Instance? { instance }

  private var name: String {
    // A released view has no more information.
    if instance.hasEnded(life) { return "'\(property.name)'" }
    return "'\(instance.schemaToBind()[place.classID].name).\(property.name)'"
  }
  /// Its name in messages, such as "the list 'Person.dogs'".
  var title: String { place.nested == nil ? "the \(kind) \(name)" : "a \(kind) within \(name)" }

  var isInvalidated: Bool {
    instance.checkThread()
    return found() == nil
  }

  func isEqual(to other: any SequenceBacking) -> Bool {
    guard let other = other as? ManagedSequence else { return false }
    return instance === other.instance && place == other.place && life == other.life
  }

  /// The sequence at the instance's version, nil if its object does not exist.
  private func found() -> (any SequenceReading)? {
    guard !instance.hasEnded(life), createdInWrite?.wasCancelled != true else {
      return nil
    }
    let found = instance.sequence(at: place)
    // The view of a frozen collection belongs to the thread, not to the collection.
    if !instance.isFrozen {
      known = place.nested == nil && instance.tracking == nil ? found : nil
    }
    return found?.reading
  }

  /// Traps on the wrong thread, and if the object no longer exists.
  @inline(__always)
  func view() -> any SequenceReading {
    instance.checkThread()
    return known?.reading ?? viewAnew()
  }

  @inline(never)
  private func viewAnew() -> any SequenceReading {
    if let tracking = instance.tracking {
      let row = ObjectRef(classID: place.classID, key: place.key)
      tracking.note(.property(row, place.column))
    }
    guard let found = found() else {
      trap(
        "The collection \(name) was used after its object was deleted or its Realm invalidated. "
          + "Check isInvalidated first.")
    }
    return found
  }

  /// The counterpart in another instance of the file; nil if it does not exist there.
  init?(_ other: ManagedSequence, in core: RealmCore) {
    instance = core
    property = other.property
    kind = other.kind
    place = other.place
    life = core.state.life
    createdInWrite = nil
    if core.sequence(at: place)?.reading == nil { return nil }
  }

  /// The same collection in the instance's present life.
  private init(reviving other: ManagedSequence) {
    instance = other.instance
    property = other.property
    kind = other.kind
    place = other.place
    life = other.instance.state.life
    createdInWrite = other.createdInWrite
  }

  /// A list or map within a value of this property or sequence.
  private init(_ kind: CollectionKind, _ id: CollectionID, within other: ManagedSequence) {
    instance = other.instance
    property = other.property
    self.kind = kind
    place = other.place.nested(id)
    life = other.life
    createdInWrite = other.createdInWrite
  }

  /// The same collection in the instance's present life; nil if this one belongs to it already.
  var revived: ManagedSequence? {
    life == instance.state.life ? nil : ManagedSequence(reviving: self)
  }

  /// The stored form of a value to search for; nil if the collection cannot contain it.
  func sought(_ boxed: _BoxedValue) -> Value? {
    guard let object = boxed.object else { return boxed.nested == nil ? boxed.value : nil }
    guard let core = object._core, core === instance || core === instance.oldSide else {
      return nil
    }
    object.requirePosition()
    let key = ObjectKey(object._key)
    return property.type == .any ? .object(object._binding!.classID, key) : .link(key)
  }

  // MARK: - Values

  private func object(_ key: ObjectKey) -> ObjectBase? {
    if let name = property.dynamicTarget {
      return instance.object(key, instance.dynamicBinding(name))
    }
    return property.target.map { instance.object($0, key) }
  }

  /// An element as the program sees it.
  func boxed(_ value: Value) -> _BoxedValue {
    switch value {
    case .link(let key):
      return _BoxedValue(value, object: object(key))
    case .object(let id, let key):
      let name = instance.schemaToBind()[id].name
      return _BoxedValue(
        value,
        object: property.isDynamic
          ? instance.object(key, instance.dynamicBinding(name)) : instance.object(key, of: id))
    case .list(let id):
      return _BoxedValue(value, nested: ManagedSequence(.list, id, within: self))
    case .map(let id): return _BoxedValue(value, nested: ManagedSequence(.map, id, within: self))
    default: return _BoxedValue(value)
    }
  }

  /// An element as it is stored. An unmanaged object gets its row.
  func stored(_ boxed: _BoxedValue) throws(StorageError) -> Value {
    if property.type == .any {
      return instance.stored(checkingNested(boxed), in: place, update)
    }
    guard let object = boxed.object else { return boxed.value }
    if let name = property.dynamicTarget {
      require(
        object._className == name,
        "Cannot put an object of class '\(object._className)' into \(title): it holds objects of "
          + "class '\(name)'.")
    }
    if let core = object._core, core !== instance {
      object._refuseFrozen()
      if instance.isOfOldSide(object) { return .link(ObjectKey(object._key)) }
      trap(
        "Cannot put an object of another Realm into a collection: one of class "
          + "'\(object._className)' into \(title). Freeze it there and thaw it here, or create the "
          + "object in this Realm.")
    }
    try instance.takeIn(object, update)
    return .link(ObjectKey(object._key))
  }

  func stored(_ boxes: [_BoxedValue]) throws(StorageError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(boxes.count)
    for boxed in boxes { values.append(try stored(boxed)) }
    return values
  }

  /// Elements to be added to the collection: unmanaged objects get their rows, lists and maps are
  /// read before anything is written.
  func copies(_ boxes: [_BoxedValue]) throws(StorageError) -> [CopiedValue] {
    var copies: [CopiedValue] = []
    copies.reserveCapacity(boxes.count)
    for boxed in boxes {
      copies.append(
        boxed.nested == nil
          ? .value(try stored(boxed)) : instance.copy(checkingNested(boxed), in: place, update))
    }
    return copies
  }

  private func checkingNested(_ boxed: _BoxedValue) -> _BoxedValue {
    require(
      boxed.nested == nil || kind != .set,
      "Lists and maps cannot be in \(title), because they cannot be compared. Use a list.")
    return boxed
  }

  // MARK: - Reading

  var count: Int { view().count }

  func element(at index: Int) -> _BoxedValue {
    let view = view()
    return boxed(trapping { () throws(StorageError) in try view.value(at: index) })
  }

  var snapshot: SequenceSnapshot { .stored(values(), of: self) }
  var numberPages: NumberPages? {
    let view = view()
    guard instance.isFrozen else { return view.numberPages }
    // A loop over the pages of a frozen collection may continue on another thread.
    return instance.unsharedSequence(at: place)?.numberPages
  }

  func values() -> [Value] {
    let view = view()
    let count = view.count
    var values: [Value] = []
    values.reserveCapacity(count)
    trapping { () throws(StorageError) in
      try view.forEach(in: 0..<count) { value throws(StorageError) in
        values.append(value)
        return true
      }
    }
    return values
  }

  func key(at index: Int) -> String {
    let view = view()
    return trapping { () throws(StorageError) in try view.key(at: index) }
  }

  func index(of value: _BoxedValue) -> Int? {
    let view = view()
    // Lists and maps within values are found by their elements.
    if value.nested != nil { return all.firstIndex { $0.isSameElement(as: value) } }
    guard let sought = sought(value) else { return nil }
    return trapping { () throws(StorageError) in
      if kind == .set {
        let found = try view.find(sought)
        return found.isFound ? found.index : nil
      }
      var index = 0
      try view.forEach(in: 0..<view.count) { value throws(StorageError) in
        if value.isSameElement(as: sought) { return false }
        index += 1
        return true
      }
      return index < view.count ? index : nil
    }
  }

  func find(_ key: String) -> (index: Int, isFound: Bool) {
    let view = view()
    return trapping { () throws(StorageError) in try view.find(key: key) }
  }

  // MARK: - Changing

  /// Traps outside of a write, and if the object no longer exists.
  func writing() -> WriteSession {
    if instance.isFrozen { instance.trapFrozen("Cannot change the \(kind) '\(property.name)' of") }
    let session = instance.writing("modify managed collections")
    _ = view()
    return session
  }

  /// Makes a change that may add unmanaged objects.
  func takingIn(_ change: (WriteSession) throws(StorageError) -> Void) {
    _ = writing()
    instance.takingIn(change)
  }

  func insert(_ value: _BoxedValue, at index: Int) {
    changing(.insertion([index]), with: [value]) {
      takingIn { session throws(StorageError) in
        try session.insert(stored(value), at: index, in: place)
      }
    }
  }

  func replace(_ range: Range<Int>, with new: [_BoxedValue]) {
    changing(.replacing(range, new.count), leaving: range, with: new) {
      takingIn { session throws(StorageError) in
        try session.replace(range, with: stored(new), in: place)
      }
    }
  }

  func set(_ value: _BoxedValue, at index: Int) {
    changing(.replacement([index]), leaving: index..<index + 1, with: [value]) {
      takingIn { session throws(StorageError) in
        try session.set(stored(value), at: index, in: place)
      }
    }
  }

  func move(from: Int, to: Int) {
    let session = writing()
    changing(.replacement(IndexSet(min(from, to)...max(from, to)))) {
      trapping { () throws(StorageError) in try session.move(from: from, to: to, in: place) }
    }
  }

  func swap(_ first: Int, _ second: Int) {
    let session = writing()
    changing(.replacement([first, second])) {
      trapping { () throws(StorageError) in try session.swap(first, second, in: place) }
    }
  }

  func insert(_ value: _BoxedValue) {
    changing(.setting, with: [value]) {
      takingIn { session throws(StorageError) in
        _ = try session.insert(stored(value), intoSet: place)
      }
    }
  }

  func remove(_ value: _BoxedValue) {
    let session = writing()
    guard let value = sought(value) else { return }
    changing(.setting) {
      trapping { () throws(StorageError) in _ = try session.remove(value, fromSet: place) }
    }
  }

  func set(_ value: _BoxedValue, for key: String) {
    changing(.setting, leaving: positions(of: key), with: [value]) {
      takingIn { session throws(StorageError) in
        try session.set(stored(value), forKey: key, inMap: place)
      }
    }
  }

  func removeValue(for key: String) {
    let session = writing()
    changing(.setting, leaving: positions(of: key)) {
      trapping { () throws(StorageError) in
        _ = try session.removeValue(forKey: key, fromMap: place)
      }
    }
  }

  func removeAll() {
    let session = writing()
    changing(.replacing(0..<count, 0), leaving: 0..<count) {
      trapping { () throws(StorageError) in try session.removeAll(in: place) }
    }
  }

  func put(_ values: [_BoxedValue], keys: [String]) {
    changing(.setting, leaving: 0..<count, with: values) {
      takingIn { session throws(StorageError) in
        if try !session.assign(copies(values), keys: keys, in: place) {
          session.noteAssigned(place)
        }
      }
    }
  }
}

extension ObjectBase {
  /// Traps for an object that is no longer in any collection.
  final func requirePosition() {
    require(
      !isInvalidated,
      "A deleted or invalidated object has no position: one of class '\(_className)' was searched "
        + "for. Check isInvalidated first.")
  }
}
