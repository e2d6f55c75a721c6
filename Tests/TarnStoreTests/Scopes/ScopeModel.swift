import TestSupport

@testable import TarnStore

/// What a scope means, written down a second time and as plainly as possible: goes forwards from
/// one object over the values of all others.
struct ScopeModel {
  /// A property that was set and counts.
  struct SetProperty: Hashable {
    let object: ObjectRef
    let column: ColumnID
    let origin: ClassID?
  }

  let source: RandomStore
  let changes: ChangeSet

  /// What was set in the object or behind it, as far as the scope looks.
  func changed(_ scope: Scope, from object: ObjectRef) -> Set<SetProperty> {
    switch scope {
    case .depth(let depth):
      return Set(objects(within: depth, of: object).flatMap(touched))
    case .paths(let paths):
      let own = paths.filter { $0.classID == object.classID }.flatMap(\.dependencies)
      return Set(own.flatMap { touched($0, from: object) })
    }
  }

  /// The objects of a class from which a scope leads to something that was set.
  func concerned(_ scope: Scope, in id: ClassID) -> Set<ObjectKey> {
    Set(
      source.keys(id).map { ObjectKey($0) }.filter {
        !changed(scope, from: ObjectRef(classID: id, key: $0)).isEmpty
      })
  }

  // MARK: - What was set

  private func touched(_ object: ObjectRef) -> [SetProperty] {
    changes.classes.filter { $0.id == object.classID }.flatMap(\.touched).filter {
      $0.keys.contains(object.key)
    }.map { SetProperty(object: object, column: $0.column, origin: nil) }
  }

  private func touched(_ path: QueryDependency, from object: ObjectRef) -> [SetProperty] {
    var ends: Set<ObjectRef> = [object]
    for link in path.links { ends = Set(ends.flatMap { targets(of: $0, link) }) }
    return ends.filter { isTouched(path, $0) }.map {
      SetProperty(object: $0, column: path.column, origin: path.origin)
    }
  }

  private func isTouched(_ path: QueryDependency, _ object: ObjectRef) -> Bool {
    guard let origin = path.origin else {
      return touched(object).contains { $0.column == path.column }
    }
    return changes.classes.filter { $0.id == object.classID }.flatMap(\.backTouched).contains {
      $0.origin == origin && $0.column == path.column && $0.keys.contains(object.key)
    }
  }

  // MARK: - Links

  private func objects(within depth: Int, of object: ObjectRef) -> Set<ObjectRef> {
    var (found, level): (Set<ObjectRef>, Set<ObjectRef>) = ([object], [object])
    var away = 0
    while !level.isEmpty, away < depth {
      away += 1
      level = Set(level.flatMap { from in columns(from.classID).flatMap { links(from, $0) } })
      level.subtract(found)
      found.formUnion(level)
    }
    return found
  }

  func targets(of object: ObjectRef, _ link: LinkStep) -> [ObjectRef] {
    guard link.isBackwards else {
      return links(object, source.schema[link.classID]![link.column]).filter {
        $0.classID == link.target
      }
    }
    return source.keys(link.classID).map { ObjectRef(classID: link.classID, key: ObjectKey($0)) }
      .filter { links($0, source.schema[link.classID]![link.column]).contains(object) }
  }

  private func columns(_ id: ClassID) -> [ColumnSchema] { source.schema[id]!.columns }

  private func links(_ object: ObjectRef, _ column: ColumnSchema) -> [ObjectRef] {
    let place = SequencePlace(classID: object.classID, key: object.key, column: column.id)
    let values =
      column.collection == .none
      ? [source.rows[object.classID]![object.key.rawValue]![column.id.index]]
      : source.elements[place] ?? []
    return values.compactMap(column.linkTarget)
  }
}

extension RandomStore {
  /// A scope, and the classes of the objects that are shown.
  mutating func scope() -> (scope: Scope, classes: Set<ClassID>) {
    let classes = Set((0...random.below(2)).map { _ in random.pick(schema.classes).id })
    if random.chance(40) { return (.depth(random.pick([0, 1, 2, 3, .max])), classes) }
    let paths = (0...random.below(3)).map { path(from: random.pick(classes.sorted()), $0) }
    return (.paths(paths), classes)
  }

  /// A path over some links of all kinds to a property of any kind.
  private mutating func path(from start: ClassID, _ number: Int) -> ScopePath {
    var path = ScopePath(classID: start, property: number, dependencies: [])
    var (owner, links): (ClassID, [LinkStep]) = (start, [])
    for _ in 0..<random.below(4) {
      let link = random.pick(steps(from: owner))
      path.dependencies.append(
        QueryDependency(
          links: links, classID: owner, column: link.column,
          origin: link.isBackwards ? link.classID : nil))
      links.append(link)
      owner = link.isBackwards ? link.classID : link.target
    }
    path.dependencies.append(end(of: links, owner))
    return path
  }

  private mutating func end(of links: [LinkStep], _ owner: ClassID) -> QueryDependency {
    let backwards = steps(from: owner).filter(\.isBackwards)
    if random.chance(25), !backwards.isEmpty {
      let link = random.pick(backwards)
      return QueryDependency(
        links: links, classID: owner, column: link.column, origin: link.classID)
    }
    return QueryDependency(
      links: links, classID: owner, column: random.pick(schema[owner]!.columns).id)
  }

  private func steps(from id: ClassID) -> [LinkStep] {
    let classes = schema.classes.map(\.id)
    let forwards = schema[id]!.columns.flatMap { column in
      (column.type == .any ? classes : [column.target].compactMap { $0 }).map {
        LinkStep(classID: id, column: column.id, target: $0)
      }
    }
    let backwards = schema.classes.flatMap { origin in
      origin.columns.filter { $0.type == .link && $0.target == id }.map {
        LinkStep(classID: origin.id, column: $0.id, target: id, isBackwards: true)
      }
    }
    return forwards + backwards
  }
}
