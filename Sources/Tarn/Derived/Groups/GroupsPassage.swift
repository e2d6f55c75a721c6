import TarnStore

// Identifies groups in every Realm of their file: by their results, key and aggregates.

/// Groups by a property.
private struct GroupsPassage<Key: _Persistable & Hashable, Values>: Passage {
  let results: any Passage
  let shape: GroupShape<Values>

  var anchor: PassageAnchor { results.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (results.arrival(in: core) as? any GroupedBase).map {
      GroupedResults<Key, Values>(LiveGroups($0, shape))
    }
  }
}

/// All objects in one group.
private struct AggregatePassage<Values>: Passage {
  let results: any Passage
  let shape: GroupShape<Values>

  var anchor: PassageAnchor { results.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (results.arrival(in: core) as? any GroupedBase).map {
      LiveAggregate<Values>(LiveGroups($0, shape))
    }
  }
}

extension GroupedResults {
  public func _passage() -> _Passage {
    groups.results._passage().map {
      GroupsPassage<Key, Values>(results: $0, shape: groups.shape)
    }
  }
}

extension LiveAggregate {
  public func _passage() -> _Passage {
    groups.results._passage().map { AggregatePassage(results: $0, shape: groups.shape) }
  }
}
