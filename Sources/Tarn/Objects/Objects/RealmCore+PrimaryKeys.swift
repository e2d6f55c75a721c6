import Foundation
import TarnStore

/// Objects by their primary keys.
extension RealmCore {
  /// The object with that primary key, or nil.
  func object<T: ObjectBase, Key>(_ type: T.Type, primaryKey key: Key) -> T? {
    object(binding(of: type), primaryKey: key).map { unsafe unsafeDowncast($0, to: T.self) }
  }

  /// The object of a bound class with that primary key, or nil.
  func object<Key>(_ binding: ClassBinding, primaryKey key: Key) -> ObjectBase? {
    if Key.self == Int.self, binding.schema.keyIsPrimary {
      return object(ObjectKey(Int64(key as! Int)), existingIn: binding)
    }
    guard let column = binding.schema.primaryKey else {
      trap(
        "'\(binding.schema.name)' does not have a primary key to find an object by. "
          + "Use a condition.")
    }
    guard let value = primaryKey(key, binding, binding.schema[column]) else { return nil }
    let found = trapping { () throws(StorageError) in
      if let session { return try session.find(primaryKey: value, in: binding.classID) }
      return try shown().find(primaryKey: value, in: binding.classID)
    }
    return found.map { object($0, binding) }
  }

  /// A primary key from outside in its column's form; nil for a number that no object can have.
  private func primaryKey(_ key: Any, _ binding: ClassBinding, _ column: ColumnSchema) -> Value? {
    var natural = Value.null
    if let content = flattened(key), !(content is NSNull) {
      natural = Value(single: content) ?? .null
      let fits = natural.converted(to: column.type) != nil || natural.isNumber
      require(
        natural != .null && fits && (natural.isNumber == (column.type == .int)),
        "'\(Swift.type(of: content))' is not the type of the primary key of "
          + "'\(binding.schema.name)'.")
    }
    return natural.converted(to: column.type)
  }
}
