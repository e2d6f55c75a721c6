import TarnStore

extension RealmCollection where Element: KeypathSortable {
  /// The objects in sections, one for each value of a property, ordered by that property; equal
  /// ones are in the order of the collection.
  ///
  /// ```swift
  /// realm.objects(Dog.self).sectioned(by: \.breed)
  /// ```
  ///
  /// A key path to a computed property is ordered by the stored property that its getter reads:
  ///
  /// ```swift
  /// realm.objects(Dog.self).sectioned(by: \.initial)  // var initial: String { … name … }
  /// ```
  ///
  /// To find that property, the getter runs once on an object that is in no Realm. The keys are
  /// computed for every object at the first use, like those of a block, and under the same rules:
  /// see `sectioned(by:sortDescriptors:)`.
  ///
  /// Traps for an unmanaged or invalidated collection, for a computed property whose getter reads
  /// no stored property or several, and for a key path to objects or a collection.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let column = SectionKeyRule.column(orderedBy: keyPath)
    let descriptor = SortDescriptor(keyPath: column, ascending: ascending)
    return sectioned(by: keyPath, sortDescriptors: [descriptor])
  }

  /// The objects in sections, one for each value of a property, in the order of their first
  /// objects. `sortDescriptors` order the objects; the first one must be that property, unless it
  /// is computed. The keys of a computed property are those of a block that reads it.
  ///
  /// Traps for an unmanaged or invalidated collection, without a descriptor, for a first one that
  /// is another property, and for a key path to objects or a collection.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let base = _derivation
    let spec = base.spec.sorted(SectionKeyRule.checked(sortDescriptors))
    if let stored = try? Element._properties(along: keyPath, throughElements: false) {
      let own = base.spec.sorted([SortDescriptor(keyPath: stored.columnName)])
      let (wanted, given) = (own.orderTerms[0].path, spec.orderTerms[0].path)
      require(
        wanted == given,
        "The section key path must match the primary sort descriptor's key path: sections by "
          + "'\(wanted.text())' cannot be sorted by "
          + "'\(given.text())' first. Put the key path in front.")
    }
    let results = Results<Element>(base.core, spec, createdInWrite: base.createdInWrite)
    return SectionedResults(results, SectionRule(keyPath))
  }

  /// The objects in sections, one for each key that `block` returns, in the order of their first
  /// objects; within a section in the order of `sortDescriptors`.
  ///
  /// `block` is called on the Realm's thread, queue or actor for every object at the first use, and
  /// again for those that were added or changed, themselves or up to three links away. It must
  /// return the same key as long as an object is unchanged, and change nothing: it traps if it
  /// begins, makes or ends a write, or refreshes or invalidates the Realm.
  ///
  /// Traps for an unmanaged or invalidated collection, without a descriptor, and for keys that are
  /// objects or collections.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    let base = _derivation
    let spec = base.spec.sorted(SectionKeyRule.checked(sortDescriptors))
    let results = Results<Element>(base.core, spec, createdInWrite: base.createdInWrite)
    return SectionedResults(results, SectionRule(block))
  }
}

extension RealmCollection where Element: _SortableElement {
  /// The values in sections, one for each key that `block` returns, in the order of
  /// `sorted(ascending:)`.
  ///
  /// ```swift
  /// person.nicknames.sectioned(by: { $0.first.map(String.init) })
  /// ```
  ///
  /// `block` is called on the Realm's thread, queue or actor for every value at the first use, and
  /// again for those that were added, changed, or are objects that changed. It must return the same
  /// key for the same value, and change nothing: it traps if it begins, makes or ends a write, or
  /// refreshes or invalidates the Realm.
  ///
  /// Traps for an unmanaged or invalidated collection, for custom types that are stored as embedded
  /// objects, and for keys that are objects or collections.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    SectionKeyRule.check(Key.self)
    return SectionedResults(sorted(ascending: ascending), SectionRule(block))
  }
}

/// The common key of a section's elements: a property's value, or the value of a block.
struct SectionRule<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  /// Nil for a block, which equals no other.
  let keyPath: AnyKeyPath?
  let key: (Element) -> Key

  init(_ keyPath: KeyPath<Element, Key>) {
    self.keyPath = keyPath
    key = { $0[keyPath: keyPath] }
  }

  init(_ block: @escaping (Element) -> Key) {
    keyPath = nil
    key = block
  }
}

/// The types of section keys.
enum SectionKeyRule {
  /// Traps for keys that are objects or collections.
  static func check<Key: _Persistable>(_ type: Key.Type) {
    let description = Key._description
    require(
      description.target == nil,
      "Links are not supported as section keys: '\(Key.self)'. Use a property of the object.")
    require(
      description.collection == .none && !Key._isCollection,
      "Collections are not supported as section keys: '\(Key.self)'. Use a value, such as count."
    )
  }

  /// The same for the one value that may be an object.
  static func checked<Key: _Persistable>(_ key: Key) -> Key {
    if let value = key as? AnyRealmValue {
      switch value {
      case .object:
        trap(
          "Links are not supported as section keys: an AnyRealmValue is an object. Use a "
            + "property of the object.")
      case .list, .dictionary:
        trap(
          "Collections are not supported as section keys: an AnyRealmValue is a list or map. "
            + "Use a value, such as the count.")
      default: break
      }
    }
    return key
  }

  /// The column by which sections of a key path are ordered. Traps for a computed property that
  /// does not depend on exactly one.
  static func column<Root: KeypathSortable>(orderedBy keyPath: PartialKeyPath<Root>) -> String {
    do {
      return try Root._properties(along: keyPath, throughElements: false).columnName
    } catch {
      if let read = Root._propertyRead(by: keyPath) { return read.columnName }
      let fault = error as? KeyPathFault
      trap(fault?.message(for: .sections) ?? "internal error: \(error)")
    }
  }

  /// Traps without a descriptor.
  static func checked(_ descriptors: [SortDescriptor]) -> [SortDescriptor] {
    require(
      !descriptors.isEmpty,
      "There must be at least one SortDescriptor when using SectionedResults: the first one puts "
        + "the sections in order.")
    return descriptors
  }
}

extension LiveSections {
  /// Sections of results on their instance.
  fileprivate convenience init<Element: RealmCollectionValue>(
    _ results: Results<Element>, _ rule: SectionRule<Key, Element>, like other: LiveSections?
  ) where Key: _Persistable {
    let (spec, createdInWrite, key) = (results.spec, results.createdInWrite, rule.key)
    let mayBeAnything = Key._description.type == .any
    self.init(
      results.core, results.live, createdInWrite: results.createdInWrite, like: other
    ) { [unowned core = results.core] rows, position in
      let made = key(core.element(at: position, of: rows, spec, createdInWrite: createdInWrite))
      return mayBeAnything ? SectionKeyRule.checked(made) : made
    }
  }
}

extension RealmCore {
  /// The sections of results of this instance: shared ones for a property, new ones for a block.
  ///
  /// - Parameter other: the same sections on another instance.
  func sections<Key: _Persistable & Hashable, Element: RealmCollectionValue>(
    of results: Results<Element>, _ rule: SectionRule<Key, Element>, like other: LiveSections<Key>?
  ) -> LiveSections<Key> {
    guard let keyPath = rule.keyPath else {
      return other?.frozen(on: self) ?? LiveSections(results, rule, like: other)
    }
    let name = WeakTable.Name(SectionsName(spec: results.spec, keyPath: keyPath))
    if let known = shared.sections.known(name) as? LiveSections<Key>, !known.source.isOwnerGone {
      return known
    }
    return shared.sections.share(LiveSections(results, rule, like: other), as: name)
  }
}
