public import Foundation
import TarnStore

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
