import TarnStore

/// What happened to the objects of one class between two versions, as net changes.
///
/// Whoever keeps a copy of the objects drops what ``absent`` identifies, and then stores what
/// ``present`` has; the others say in more detail why. Objects are frozen at the newest version.
///
/// Threading: frozen; any thread may read it.
public struct ObjectChanges<Element: Object> {
  private let told: FeedClass
  private let core: RealmCore
  private let binding: ClassBinding

  init(_ told: FeedClass, _ core: RealmCore, _ binding: ClassBinding) {
    self.told = told
    self.core = core
    self.binding = binding
  }

  /// True if there is nothing.
  public var isEmpty: Bool { told.isEmpty }

  // MARK: - In short

  /// All objects that the cursor selects and that came, changed or entered: each once.
  public var present: [Element] {
    let keys = told.inserted.union(told.replaced).union(told.modified).union(told.entered)
    return objects(keys)
  }

  /// All objects that are deleted, or that the cursor does not select now. Some of them may never
  /// have been told before: ignore identities that you do not have.
  public var absent: [ObjectIdentity] { deleted + identities(told.left) + gone }

  // MARK: - In detail

  /// Objects that were added.
  public var inserted: [Element] { objects(told.inserted) }

  /// Objects that were added with the primary key of one that was deleted: nothing of that is left.
  public var replaced: [Element] { objects(told.replaced) }

  /// Objects in which something changed that the cursor asks for. An object that the cursor did not
  /// select before is among these if an assignment in it was the reason; with old values it is
  /// among `entered`.
  public var modified: [ModifiedObject<Element>] { modifiedObjects(told.modified) }

  /// Objects that the cursor selects now and may not have selected before, for another reason: an
  /// object that they link to changed, or a property that only the condition reads. Without old
  /// values some of them were selected before.
  public var entered: [ModifiedObject<Element>] { modifiedObjects(told.entered) }

  /// Objects that were deleted. Without old values these include objects that the cursor's
  /// condition never met.
  public var deleted: [ObjectIdentity] {
    told.deleted.map { key in
      let primaryKey = told.primaryKeys[key].flatMap { ObjectIdentity.PrimaryKey($0) }
      return ObjectIdentity(binding.schema.name, key, primaryKey: primaryKey)
    }
  }

  /// Objects that exist, changed, and do not meet the cursor's condition. Without old values these
  /// include objects that never met it.
  public var left: [ObjectIdentity] { identities(told.left) }

  /// Objects that came or changed and do not exist any more: they were deleted after the end of the
  /// batch, which a later one tells, or by a commit of the consumer's own.
  public var gone: [ObjectIdentity] {
    told.gone.map { key in
      let isKnown = binding.schema.keyIsPrimary
      return ObjectIdentity(
        binding.schema.name, key, primaryKey: isKnown ? .int(Int(key.rawValue)) : nil)
    }
  }

  /// True if all objects that existed before were deleted at once. `deleted` then has those whose
  /// keys were kept; whoever has others drops them, too.
  public var isCleared: Bool { told.isCleared }

  /// Identifies an object of this class, for keeping it with a copy.
  public func identity(of object: Element) -> ObjectIdentity {
    identity(ObjectKey(object._key))
  }

  /// The values that an object had before, by the names of its properties, if the cursor keeps
  /// them: of a deleted object all, of another one those of the assigned properties. Without
  /// collections and links.
  public func oldValues(of identity: ObjectIdentity) -> [String: AnyRealmValue] {
    let columns = binding.schema.columns.filter { !$0.isRemoved }.map(\.id)
    return oldValues(of: ObjectKey(identity.objectKey), columns)
  }

  // MARK: - Rows

  private func oldValues(of key: ObjectKey, _ columns: [ColumnID]) -> [String: AnyRealmValue] {
    guard let before = told.before, let snapshot = core.frozen?.snapshot else { return [:] }
    var values: [String: AnyRealmValue] = [:]
    for column in columns {
      guard let property = binding.property(column), property.collection == .none,
        property.target == nil, property.dynamicTarget == nil,
        let former = before.value(of: column, at: key)
      else { continue }
      let value = trapping { () throws(StorageError) in
        try former.resolved(in: snapshot.transaction)
      }
      switch value {
      // What these refer to may not exist any more.
      case .link, .object, .list, .map: continue
      default: values[property.name] = AnyRealmValue._unbox(_BoxedValue(value))
      }
    }
    return values
  }

  private func objects(_ keys: KeySet) -> [Element] { keys.map(object) }

  private func object(_ key: ObjectKey) -> Element {
    unsafe unsafeDowncast(core.object(key, binding), to: Element.self)
  }

  private func identities(_ keys: KeySet) -> [ObjectIdentity] { keys.map(identity) }

  /// The identity of an object that exists.
  private func identity(_ key: ObjectKey) -> ObjectIdentity {
    var primaryKey: ObjectIdentity.PrimaryKey?
    if let column = binding.schema.primaryKey {
      let value = trapping { () throws(StorageError) in
        try core.rows().plainValue(of: column, at: key, in: binding.classID)
      }
      primaryKey = ObjectIdentity.PrimaryKey(value)
    }
    return ObjectIdentity(binding.schema.name, key, primaryKey: primaryKey)
  }

  private func modifiedObjects(_ keys: KeySet) -> [ModifiedObject<Element>] {
    keys.map { key in
      let columns = told.columns(assignedIn: key)
      let properties = binding.properties(of: columns.map { ($0, ()) }).map { $0.property }
      var edits: [String: CollectionEdit] = [:]
      for (property, column) in binding.properties(of: columns.map { ($0, $0) }) {
        guard let script = told.script(of: column, in: key) else { continue }
        edits[property.name] = CollectionEdit(script)
      }
      return ModifiedObject(
        object(key), properties: names(properties, key),
        oldValues: oldValues(of: key, columns), edits: edits)
    }
  }

  /// The names of assigned properties, and of backlinks that a key path begins with.
  private func names(_ properties: [PropertyReflection], _ key: ObjectKey) -> [String] {
    let names = properties.map(\.name)
    if told.along.isEmpty { return names }
    let firsts = told.along.filter { $0.keys.contains(key) }.map(\.path.property)
    return Set(firsts).sorted().map { binding.reflection.properties[$0].name }
  }
}

@available(*, unavailable, message: "frozen, but its objects are not Sendable: use the batch")
extension ObjectChanges: Sendable {}
