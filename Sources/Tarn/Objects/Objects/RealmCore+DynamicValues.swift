import Foundation
import TarnStore

/// Gives rows to dynamic objects that a `ValueReader` made.
extension RealmCore {
  /// Makes an object of a class in the file from values by name or in order, or from another
  /// object.
  func dynamicCreate(
    _ name: String, value: Any, update: Realm.UpdatePolicy
  ) -> DynamicObject {
    _ = writing("create objects")
    require(
      schemaToBind().schema.named(name)?.isEmbedded != true,
      "Objects of the embedded class '\(name)' can be created only as the value of another "
        + "object's property.")
    let binding = dynamicBinding(name)
    require(
      update == .error || binding.schema.primaryKey != nil,
      "'\(name)' does not have a primary key and can not be updated: it is unknown which object is "
        + "meant. Use update: .error, or give the class a primary key.")
    let object = DynamicObject()
    var reader = ValueReader(.copied, self, keepsRefused: true)
    do { try reader.fill(object, binding.reflection, from: value) } catch {
      trap(error.description)
    }
    makeRows(for: reader, update)
    return object
  }

  /// Creates the objects' rows: first each object's values, then the links between them. An
  /// embedded object is thereby removed from its former owner.
  func makeRows(for reader: ValueReader, _ update: Realm.UpdatePolicy) {
    let dynamic = reader.made.filter { $0.reflection.type == DynamicObject.self }
    let policies = dynamic.map { made in
      let binding = dynamicBinding(made.reflection.name)
      let policy = binding.schema.primaryKey == nil ? .error : update
      makeRow(made, binding, policy)
      return policy
    }
    for (made, policy) in zip(dynamic, policies) {
      for (property, value) in made.values where !value.isPlain {
        let column = column(of: property, in: made.object._binding!)
        set(column, of: made.object, property, value, policy)
      }
    }
  }

  private func makeRow(
    _ made: ValueReader.Made, _ binding: ClassBinding, _ update: Realm.UpdatePolicy
  ) {
    let session = writing("create objects")
    let declared = declaredValues(for: made, binding)
    var initial: [ColumnID: Value] = [:]
    for case (let property, .single(let boxed)) in declared {
      initial[column(of: property, in: binding)] = boxed.value
    }
    var isNew = true
    var values: [ColumnID: Value] = [:]
    for case (let property, .single(let boxed)) in made.values
    where boxed.object == nil && boxed.nested == nil {
      values[column(of: property, in: binding)] = boxed.value
    }
    let id = binding.classID
    func insert() throws(StorageError) -> ObjectKey {
      let all = values.merging(initial) { given, _ in given }
      return try inserting(into: id) { () throws(StorageError) in try session.create(all, in: id) }
    }
    let key = trapping { () throws(StorageError) in
      guard let primary = binding.schema.primaryKey else {
        return try insert()
      }
      let value = values[primary] ?? initial[primary] ?? binding.schema[primary].zero
      values[primary] = value
      guard let existing = try session.find(primaryKey: value, in: id) else {
        return try insert()
      }
      if update == .error { trapDuplicate(value, binding) }
      isNew = false
      for (column, value) in values.sorted(by: { $0.key < $1.key }) where column != primary {
        if update == .modified, try session.value(of: column, at: existing, in: id) == value {
          continue
        }
        try assigning(ObjectRef(classID: id, key: existing), column, value) {
          () throws(StorageError) in
          try session.set(column, at: existing, in: id, to: value)
        }
      }
      return existing
    }
    adopt(made.object, key, binding)
    guard isNew else { return }
    for case (let property, let value) in declared {
      guard case .elements = value else { continue }
      set(column(of: property, in: binding), of: made.object, property, value, .error)
    }
  }

  /// The values that the program's class declares for a new object, where none were given. Those
  /// that are objects or refer to some are left out.
  private func declaredValues(
    for made: ValueReader.Made, _ binding: ClassBinding
  ) -> [(property: PropertyReflection, value: GivenValue)] {
    guard let declared = (declaredClasses ?? classes.model)[binding.schema.name] else { return [] }
    let fresh = declared.type.init()
    return declared.properties.compactMap { property in
      guard !property.isComputed, !made.names.contains(property.columnName),
        let stored = binding.reflection.property(property.columnName)
      else { return nil }
      guard property.collection != .none else {
        let value = property.readBoxed(fresh)
        let isPlain = value.object == nil && value.nested == nil && value.value != .null
        return isPlain ? (stored, .single(value)) : nil
      }
      guard let elements = (property.read(fresh) as? any _CollectionProperty)?.backing,
        elements.count > 0, elements.all.allSatisfy({ $0.object == nil && $0.nested == nil })
      else { return nil }
      return (stored, .elements(elements))
    }
  }

  /// Sets a property of a dynamic object. Link targets are managed already, or are added.
  func set(
    _ column: ColumnID, of object: ObjectBase, _ property: PropertyReflection,
    _ given: GivenValue, _ update: Realm.UpdatePolicy
  ) {
    switch given {
    case .elements(let elements):
      let sequence = ManagedSequence(object, column)
      if update == .modified { sequence.merge(elements) } else { sequence.assign(elements) }
    case .single(let boxed) where property.type == .any:
      setAny(object, column, boxed, update)
    case .single(let boxed):
      guard let target = boxed.object else { return set(object, column, boxed.value) }
      if target._core == nil { add(target, update: policy(for: target, .error)) }
      checkLinkable(target)
      let link = Value.link(ObjectKey(target._key))
      if update == .modified, object._storedValue(column) == link { return }
      set(object, column, link)
    }
  }
}

extension GivenValue {
  /// True for values without links, stored in the row itself.
  fileprivate var isPlain: Bool {
    guard case .single(let boxed) = self else { return false }
    return boxed.object == nil && boxed.nested == nil
  }
}

extension ColumnSchema {
  /// The value of a primary key column that was not given: a new one if it is an id.
  fileprivate var zero: Value {
    if isOptional { return .null }
    switch type {
    case .string: return .string("")
    case .objectID: return ObjectId.generate()._box().value
    case .uuid: return UUID()._box().value
    default: return .int(0)
    }
  }
}
