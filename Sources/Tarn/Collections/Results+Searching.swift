public import Foundation
import TarnStore

extension Results {
  /// The position of an object of this Realm, or nil if it is not among the results. Traps for a
  /// deleted object.
  public func index(of object: Element) -> Int? {
    let rows = rows()
    guard object._core === core else { return nil }
    precondition(!object.isInvalidated, "A deleted or invalidated object has no position.")
    guard type(of: object) == spec.type, object._binding?.classID == live.query.classID
    else { return nil }
    return rows.position(of: ObjectKey(object._key))
  }

  /// The position of the first object that meets a condition, or nil.
  public func index(matching condition: (Query<Element>) -> Query<Bool>) -> Int? {
    let rows = rows()
    let predicate: ResolvedPredicate
    do {
      predicate = try ResolvedPredicate(
        condition(Query<Element>.root).predicate, on: live.query.classID,
        in: core.shown().schema.schema)
    } catch {
      fatalError("Invalid query on '\(spec.type)': \(error)")
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

  /// The objects at those positions. Traps if one of them is out of bounds.
  public func objects(at positions: IndexSet) -> [Element] { positions.map { self[$0] } }
}

extension Results: Equatable {
  /// True if both belong to one Realm instance and ask for the same.
  public static func == (a: Results, b: Results) -> Bool {
    a.core === b.core && a.spec == b.spec
  }
}

extension Results: CustomStringConvertible, DumpedCollection {
  func append(to dump: inout TextDump) { append("Results<\(Element.self)>", to: &dump) }
}
