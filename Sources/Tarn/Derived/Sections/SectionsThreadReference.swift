import TarnStore

// Identifies sections in every Realm of their file: by their results and their rule.

/// The rule of sections by a property.
private struct SectionsThreadReference<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  ThreadReference
{
  let results: any ThreadReference
  let property: PassedKeyPath<Element, Key>

  var anchor: ThreadReferenceAnchor { results.anchor }

  func sections(in core: RealmCore) -> SectionedResults<Key, Element>? {
    (results.arrival(in: core) as? Results<Element>).map {
      SectionedResults($0, SectionRule(property.keyPath))
    }
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? { sections(in: core) }
}

extension SectionedResults {
  /// Traps for sections by a block.
  public func _threadReference() -> _ThreadReference {
    results._threadReference().map { SectionsThreadReference(results: $0, property: sharedKeyPath) }
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
private struct SectionThreadReference<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  ThreadReference
{
  let sections: SectionsThreadReference<Key, Element>
  let key: Value
  let number: Int

  var anchor: ThreadReferenceAnchor { sections.anchor }

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
  public func _threadReference() -> _ThreadReference {
    parent._threadReference().map { content in
      guard let sections = content as? SectionsThreadReference<Key, SectionElement> else {
        trap("internal error: a section of something else")
      }
      return SectionThreadReference(sections: sections, key: key._box().value, number: number)
    }
  }
}
