public import Foundation
import TarnStore

/// Identifies an object of a class, even a deleted one: by its primary key, or by its object key in
/// a class without one.
public struct ObjectIdentity: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The value of a primary key.
  public enum PrimaryKey: Hashable, Sendable, Codable {
    /// An optional primary key that is nil.
    case null
    case int(Int)
    case string(String)
    case objectId(ObjectId)
    case uuid(UUID)
  }

  /// The name of the class in the file.
  public let className: String
  /// The primary key. Nil if the class has none, and for a deleted object if its commit did not
  /// keep it because no cursor or retention required keys then. That is only possible with
  /// `keeping: .none` and for versions from before the cursor.
  public let primaryKey: PrimaryKey?
  /// The number of the object in its class. The number of a deleted object is reused only in a
  /// class with an integer primary key, which it equals.
  public let objectKey: Int64

  init(_ className: String, _ key: ObjectKey, primaryKey: PrimaryKey?) {
    self.className = className
    self.primaryKey = primaryKey
    objectKey = key.rawValue
  }

  /// The primary key as a value of the model's type, such as `identity.key(as: String.self)`. Nil
  /// if the class has none, and if the key is nil or has another type.
  public func key<Key>(as type: Key.Type = Key.self) -> Key? {
    switch primaryKey {
    case .int(let number): number as? Key
    case .string(let text): text as? Key
    case .objectId(let id): id as? Key
    case .uuid(let id): id as? Key
    case .null, nil: nil
    }
  }

  /// The class and the key as text: `Dog 7`, `Dog "Rex"`; `Dog #12` by the object key.
  public var description: String {
    switch primaryKey {
    case .null: "\(className) nil"
    case .int(let number): "\(className) \(number)"
    case .string(let text): "\(className) \"\(text)\""
    case .objectId(let id): "\(className) \(id)"
    case .uuid(let id): "\(className) \(id)"
    case nil: "\(className) #\(objectKey)"
    }
  }

  /// Two identities are equal if they are of one class and have the same primary key or, without
  /// one, the same object key.
  public static func == (a: ObjectIdentity, b: ObjectIdentity) -> Bool {
    guard a.className == b.className, a.primaryKey == b.primaryKey else { return false }
    return a.primaryKey != nil || a.objectKey == b.objectKey
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(className)
    hasher.combine(primaryKey)
    if primaryKey == nil { hasher.combine(objectKey) }
  }
}

extension ObjectIdentity.PrimaryKey {
  /// Nil for a value that cannot be a primary key.
  init?(_ value: Value) {
    switch value {
    case .null: self = .null
    case .int(let number): self = .int(Int(number))
    case .string(let text): self = .string(text)
    case .objectID(let bytes): self = .objectId(ObjectId(high: bytes.high, low: bytes.low))
    case .uuid(let bytes): self = .uuid(UUID(bytes))
    default: return nil
    }
  }
}
