import Foundation

/// The nesting of Foundation's collections.
///
/// Casting one to a Swift collection converts everything in it recursively: one that contains
/// itself, or is nested very deeply, crashes within the cast. Their mirrors give the contents
/// without converting them.
struct FoundationNesting {
  private static let depthMax = 100

  /// The remaining collections, each with whether those within it have been examined.
  private var pending: [(collection: AnyObject, isDone: Bool)] = []
  /// The number of levels in a collection; 0 while they are being examined.
  private var heights: [ObjectIdentifier: Int] = [:]

  /// True unless the value is a collection of Foundation's that contains itself or is too deep.
  static func isConvertible(_ value: Any) -> Bool {
    guard type(of: value) is AnyObject.Type else { return true }
    let object = value as AnyObject
    guard isCollection(object) else { return true }
    var nesting = FoundationNesting()
    return nesting.isShallow(object)
  }

  private static func isCollection(_ object: AnyObject) -> Bool {
    object is NSDictionary || object is NSArray || object is NSSet
  }

  private mutating func isShallow(_ outermost: AnyObject) -> Bool {
    pending.append((outermost, false))
    while let (collection, isDone) = pending.popLast() {
      let id = ObjectIdentifier(collection)
      if !isDone {
        guard heights[id] == nil else { continue }
        heights[id] = 0
        pending.append((collection, true))
      }
      var height = 1
      for inner in Self.collections(in: collection) {
        switch heights[ObjectIdentifier(inner)] {
        case nil: pending.append((inner, false))
        case 0?: return false
        case let known?: height = max(height, known + 1)
        }
      }
      guard height <= Self.depthMax else { return false }
      if isDone { heights[id] = height }
    }
    return true
  }

  private static func collections(in collection: AnyObject) -> [AnyObject] {
    Mirror(reflecting: collection).children.compactMap { child in
      let value = (child.value as? (key: NSObject, value: AnyObject))?.value
      guard
        let object = value
          ?? (type(of: child.value) is AnyObject.Type ? child.value as AnyObject : nil)
      else { return nil }
      return isCollection(object) ? object : nil
    }
  }
}
