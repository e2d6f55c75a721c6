/// One class of a selection, bound to a schema: which of its objects are reported, and which
/// changes of them. Immutable; any thread may use it.
package final class FeedPart: Sendable {
  package let classID: ClassID
  /// The condition on the objects, by names and bound.
  package let condition: Predicate
  let query: CompiledQuery
  /// The paths whose changes are reported; nil for all properties of the objects.
  let scope: BoundScope?
  /// The class at the schema.
  let described: ClassSchema

  /// - Throws: for names that the class does not have, or types that do not fit.
  package init(
    _ classID: ClassID, where condition: Predicate, paths: [ScopePath]?, _ schema: SchemaView
  ) throws(PredicateError) {
    self.classID = classID
    self.condition = condition
    described = schema[classID]
    query = try CompiledQuery(condition, [], on: classID, schema)
    ownClasses = schema.schema.withEmbedded([classID])
    scope = paths.map { BoundScope(.paths($0), from: [classID], schema) }
    testedClasses = Self.readClasses(query.concerningClasses, query.predicate.dependencies)
    shownClasses = ownClasses.union(testedClasses).union(
      Self.readClasses(scope?.concerningClasses ?? [], scope?.dependencies ?? []))
  }

  /// All objects of a class.
  package convenience init(all classID: ClassID, _ schema: SchemaView) {
    do {
      try self.init(classID, where: .constant(true), paths: nil, schema)
    } catch {
      trap("internal error: a class cannot be selected: \(error)")
    }
  }

  /// The classes whose changes can concern the report, besides those of embedded objects.
  package var concerningClasses: Set<ClassID> {
    query.concerningClasses.union(scope?.concerningClasses ?? [])
  }

  /// The class and the classes of the objects embedded in its objects, at any depth.
  package let ownClasses: Set<ClassID>

  /// The property of the class that a change belongs to: the changed one, or the one that contains
  /// the embedded object. Nil for a change behind a link to another object.
  func ownColumn(of change: QueryDependency) -> ColumnID? {
    guard change.origin == nil else { return nil }
    guard let first = change.links.first else { return change.column }
    let isInside = change.links.allSatisfy {
      !$0.isBackwards && $0.target != classID && ownClasses.contains($0.target)
    }
    return isInside ? first.column : nil
  }

  /// The classes whose rows the condition reads.
  let testedClasses: Set<ClassID>
  /// Those whose rows the values, the condition and the paths read.
  package let shownClasses: Set<ClassID>

  /// A change of a backlink is one of its target, but the link is read from its origin.
  private static func readClasses(
    _ concerning: Set<ClassID>, _ dependencies: [QueryDependency]
  ) -> Set<ClassID> {
    concerning.union(dependencies.lazy.compactMap(\.origin))
  }

  /// Whether the old values are known for all classes of the values, the condition and the paths.
  func canBeShown(in past: PastRows) -> Bool {
    shownClasses.allSatisfy { past.images.level(of: $0) == .oldValues }
  }

  /// Whether the old values are known for all classes that the condition reads.
  func canBeTested(in past: PastRows) -> Bool {
    testedClasses.allSatisfy { past.images.level(of: $0) == .oldValues }
  }
}
