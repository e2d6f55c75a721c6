import TarnStore

// Identifies sections in every Realm of their file: by their results and their rule.

/// The rule of sections by a property.
private struct SectionsPassage<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  Passage
{
  let results: any Passage
  let property: PassedKeyPath<Element, Key>

  var anchor: PassageAnchor { results.anchor }

  func sections(in core: RealmCore) -> SectionedResults<Key, Element>? {
    (results.arrival(in: core) as? Results<Element>).map {
      SectionedResults($0, SectionRule(property.keyPath))
    }
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? { sections(in: core) }
}

extension SectionedResults {
  /// Traps for sections by a block.
  public func _passage() -> _Passage {
    results._passage().map { SectionsPassage(results: $0, property: sharedKeyPath) }
  }

  private var sharedKeyPath: PassedKeyPath<SectionElement, Key> {
    guard let keyPath = rule.keyPath as? KeyPath<SectionElement, Key> else {
      trap(
        "These sections are made by a block, which can run only on their own thread, queue or "
          + "actor. Pass the results and make the sections at the destination, make them by a key "
          + "path, or freeze them.")
    }
    return PassedKeyPath(keyPath: keyPath)
  }
}

/// One section among the sections: its key, in stored form.
private struct SectionPassage<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  Passage
{
  let sections: SectionsPassage<Key, Element>
  let key: Value
  let number: Int

  var anchor: PassageAnchor { sections.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    guard let sections = sections.sections(in: core), let key = Key._unbox(_BoxedValue(key)) else {
      return nil
    }
    let section = ResultsSection(sections, key, number: number)
    return section.isInvalidated ? nil : section
  }
}

extension ResultsSection {
  /// Traps for a section by a block.
  public func _passage() -> _Passage {
    parent._passage().map { content in
      guard let sections = content as? SectionsPassage<Key, SectionElement> else {
        trap("internal error: a section of something else")
      }
      return SectionPassage(sections: sections, key: key._box().value, number: number)
    }
  }
}
