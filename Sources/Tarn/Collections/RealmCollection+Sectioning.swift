import TarnStore

extension RealmCollection where Element: ObjectBase {
  /// The objects in sections, one for each value of a property, ordered by that property; equal
  /// ones in the order of the collection.
  ///
  /// ```swift
  /// realm.objects(Dog.self).sectioned(by: \.breed)
  /// ```
  ///
  /// Traps for an unmanaged or invalidated collection, for a key path that is no property, and for
  /// one that leads to objects or to a collection.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let descriptor = SortDescriptor(keyPath: keyPath, ascending: ascending)
    return sectioned(by: keyPath, sortDescriptors: [descriptor])
  }

  /// The objects in sections, one for each value of a property, in the order of their first
  /// objects. Objects are ordered by `sortDescriptors`, of which the first must be that property.
  ///
  /// Traps for an unmanaged or invalidated collection, without a descriptor, for a first one that
  /// is another property, and for a key path that leads to objects or to a collection.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let base = _derivation
    let spec = base.spec.sorted(SectionKeyRule.checked(sortDescriptors))
    let own = base.spec.sorted([SortDescriptor(keyPath: keyPath)])
    precondition(
      own.orderTerms[0].path == spec.orderTerms[0].path,
      "The section key path must match the primary sort descriptor's key path.")
    let results = Results<Element>(base.core, spec, bornIn: base.bornIn)
    let name = SectionsName(spec: spec, keyPath: keyPath)
    let sections = base.core.sections(name, of: results) { $0[keyPath: keyPath] }
    return SectionedResults(results, sections)
  }

  /// The objects in sections, one for each key that `block` gives, in the order of their first
  /// objects; within a section in the order of `sortDescriptors`.
  ///
  /// `block` is called on the Realm's thread, queue or actor for every object at the first use, and
  /// again for those that came or changed, themselves or behind one link. It must give the same
  /// key for as long as an object stays as it is, and change nothing.
  ///
  /// Traps for an unmanaged or invalidated collection, without a descriptor, and for keys that are
  /// objects or collections.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let base = _derivation
    let spec = base.spec.sorted(SectionKeyRule.checked(sortDescriptors))
    let results = Results<Element>(base.core, spec, bornIn: base.bornIn)
    return SectionedResults(results, LiveSections(results, key: block))
  }
}

/// What sections can be made by.
enum SectionKeyRule {
  /// Traps for keys that are objects or collections.
  static func check<Key: _Persistable>(_ type: Key.Type) {
    let description = Key._description
    precondition(
      description.target == nil, "Links are not supported as section keys: '\(Key.self)'.")
    precondition(
      description.collection == .none && !Key._isCollection,
      "Collections are not supported as section keys: '\(Key.self)'.")
  }

  /// The same for the one value that may be an object.
  static func checked<Key: _Persistable>(_ key: Key) -> Key {
    if let value = key as? AnyRealmValue {
      switch value {
      case .object: preconditionFailure("Links are not supported as section keys.")
      case .list, .dictionary:
        preconditionFailure("Collections are not supported as section keys.")
      default: break
      }
    }
    return key
  }

  /// Traps if there is none.
  static func checked(_ descriptors: [SortDescriptor]) -> [SortDescriptor] {
    precondition(
      !descriptors.isEmpty,
      "There must be at least one SortDescriptor when using SectionedResults.")
    return descriptors
  }
}

/// What sections by a property are made of; equal ones are shared.
struct SectionsName: Hashable {
  let spec: QuerySpec
  let keyPath: AnyKeyPath
}

/// Sections that are kept alive by those who use them.
struct WeakSections {
  weak var sections: AnyObject?
}

extension LiveSections {
  /// Sections of results by what a block says of each object.
  convenience init<Element: ObjectBase>(
    _ results: Results<Element>, key: @escaping (Element) -> Key
  ) where Key: _Persistable {
    let spec = results.spec
    let mayBeAnything = Key._description.type == .any
    self.init(results.core, results.live) { [unowned core = results.core] rows, position in
      let object = core.object(rows.key(at: position), core.binding(of: spec))
      let made = key(unsafeDowncast(object, to: Element.self))
      return mayBeAnything ? SectionKeyRule.checked(made) : made
    }
  }
}

extension RealmCore {
  fileprivate func sections<Key: _Persistable & Hashable, Element: ObjectBase>(
    _ name: SectionsName, of results: Results<Element>, key: @escaping (Element) -> Key
  ) -> LiveSections<Key> {
    if let known = liveSections[name]?.sections as? LiveSections<Key>,
      known.source === results.live.source
    {
      return known
    }
    if liveSections.count > 64 { liveSections = liveSections.filter { $0.value.sections != nil } }
    let made = LiveSections(results, key: key)
    liveSections[name] = WeakSections(sections: made)
    return made
  }
}
