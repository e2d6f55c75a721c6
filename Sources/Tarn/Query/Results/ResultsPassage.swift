import TarnStore

/// Identifies results in every Realm of their file, by their query.
private struct ResultsPassage<Element: RealmCollectionValue>: Passage {
  let spec: QuerySpec

  var anchor: PassageAnchor {
    switch spec.origin {
    case .sequence(let place): .sequence(place)
    case .backlinks(let target, _, _): .row(target)
    case .objects, nil: .nothing
    }
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    if let owner = spec.origin?.owner, !core.has(owner) { return nil }
    return Results<Element>(core, spec, createdInWrite: core.writeThatMadeOrigin(of: spec))
  }
}

extension Results {
  /// Traps for results of a collection that the open write created.
  public func _passage() -> _Passage {
    require(
      core.writeThatMadeOrigin(of: spec) == nil,
      "This Results<\(Element.self)> is derived from a collection that was created in the open "
        + "write, and cannot be passed on before the write is committed. Pass the collection or "
        + "its object and derive the results at the destination, or commit first.")
    return _Passage(ResultsPassage<Element>(spec: spec), createdInWrite: createdInWrite)
  }
}

extension RealmCore {
  /// The open write, if it created the collection that results are of.
  fileprivate func writeThatMadeOrigin(of spec: QuerySpec) -> WriteMark? {
    switch spec.origin {
    case .sequence(let place): writeThatMade(place)
    case .backlinks(let target, _, _): writeThatMade(target)
    case .objects, nil: nil
    }
  }
}
