import Foundation

/// Values that would stop the program if they were read.
enum CheckedValue {
  /// The reason why the code that runs here cannot read the value; nil if it can.
  static func fault(in value: Any) -> Realm.InvalidValue.Reason? {
    switch value {
    case let object as ObjectBase:
      return isReadable(object._core, isGone: object.isGone) ? nil : .unreadable
    case let collection as any _CollectionProperty:
      let backing = collection.backing
      return isReadable(backing.core, isGone: backing.isInvalidated) ? nil : .unreadable
    case let confined as any ThreadConfined:
      return isReadable(confined.realm?.core, isGone: confined.isInvalidated) ? nil : .unreadable
    case is String: return nil
    default: break
    }
    guard FoundationNesting.isConvertible(value) else { return .tooDeep }
    guard let sequence = value as? any Sequence else { return nil }
    if Swift.type(of: value) is AnyObject.Type {
      // The others cannot be examined before they are converted.
      return value is NSDictionary || value is NSArray || value is NSSet || value is NSData
        ? nil : .wrongType
    }
    // A sequence without a count may be infinite.
    guard let collection = sequence as? any Collection else { return .wrongType }
    return collection.count <= Realm.InvalidValue.elementsMax ? nil : .tooManyElements
  }

  /// The most levels of nested Swift collections. Casting one to a class makes a Foundation
  /// collection of it and of everything in it, recursively.
  private static let depthMax = 500

  /// True if the collections in the value are not nested too deeply to be examined.
  static func isShallow(_ value: Any) -> Bool {
    var pending: [(value: Any, depth: Int)] = [(value, 1)]
    while let (value, depth) = pending.popLast() {
      guard let elements = elements(of: value) else { continue }
      guard depth <= depthMax else { return false }
      for element in elements {
        switch element {
        case is String, is Int, is Double, is Bool: break
        default: pending.append((element, depth + 1))
        }
      }
    }
    return true
  }

  /// The elements of a Swift collection that can contain others; nil for other values.
  private static func elements(of value: Any) -> [Any]? {
    if Swift.type(of: value) is AnyObject.Type { return nil }
    if let list = value as? [Any] { return list }
    if let map = value as? [String: Any] { return Array(map.values) }
    return (value as? [AnyHashable: Any]).map { Array($0.values) }
  }

  private static func isReadable(_ core: RealmCore?, isGone: @autoclosure () -> Bool) -> Bool {
    (core?.isReadableHere ?? true) && !isGone()
  }
}
