import TarnStore

/// An object, or a projection, that a list of an interface identifies by its row, whatever its
/// Swift object is.
///
///     class Dog: Object, ObjectKeyIdentifiable {
///       @Persisted(primaryKey: true) var _id: ObjectId
///     }
///
/// If the class has a property `id`, `Identifiable` uses that one.
public protocol ObjectKeyIdentifiable: Identifiable {
  /// Equal for all objects of a row, including frozen ones, as long as the row exists. An unmanaged
  /// object has a number of its own. It means nothing in another process.
  var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// Identifies the row.
  public var id: UInt64 { _rowIdentity }
}

extension ObjectBase {
  var _rowIdentity: UInt64 {
    guard let binding = _binding else { return UInt64(UInt(bitPattern: ObjectIdentifier(self))) }
    // Keys are small numbers in most classes.
    return UInt64(bitPattern: _key) ^ UInt64(binding.classID.rawValue) << 40
  }
}
