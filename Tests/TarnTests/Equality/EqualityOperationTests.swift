import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Each operation of the library against the table of equality, for each type of which Swift's
/// `==` says something else.
struct EqualityOperationTests {
  @Test(arguments: SpecimenType.allCases)
  func whatIsAssignedIsThereToTheBit(_ type: SpecimenType) throws {
    try type.properties.checkAssignments(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func conditionsFindEqualElements(_ type: SpecimenType) throws {
    try type.properties.checkConditions(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func collectionsFindEqualElements(_ type: SpecimenType) throws {
    try type.properties.checkSearching(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func setsHaveEachElementOnce(_ type: SpecimenType) throws {
    try type.properties.checkSets(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func equalElementsAreOneGroupOneSectionAndOneOfDistinctOnes(_ type: SpecimenType) throws {
    try type.properties.checkGroups(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func updatesWriteAndTellOfOtherBitsOnly(_ type: SpecimenType) throws {
    try type.properties.checkUpdates(Specimens())
  }

  @Test(arguments: SpecimenType.allCases)
  func changesLeadFromBitsToBits(_ type: SpecimenType) throws {
    try type.properties.checkDeltas(Specimens())
  }
}

extension PropertiesOfType {
  func checkAssignments(_ file: Specimens) throws {
    let object = Specimen(0)
    try file.write { file.realm.add(object) }
    let unmanaged = Specimen(0)
    for (index, a) in samples.enumerated() {
      for b in partners(of: index) {
        for sample in [a, b] {
          try file.write {
            object[keyPath: single] = sample.value
            object[keyPath: map]["k"] = sample.value
            #expect(bits(object[keyPath: single]) == sample.bits)
          }
          unmanaged[keyPath: single] = sample.value
          #expect(bits(object[keyPath: single]) == sample.bits, "\(b.bits) over \(a.bits)")
          #expect(object[keyPath: map]["k"].map(bits) == sample.bits, "\(b.bits) over \(a.bits)")
          #expect(bits(unmanaged[keyPath: single]) == sample.bits)
        }
        let found = file.realm.objects(Specimen.self).filter("\(name) == %@", b.value)
        #expect(found.map(\.id) == [0], "\(b.bits) over \(a.bits)")
        if isRounded(a) { continue }
        let former = file.realm.objects(Specimen.self).filter("\(name) == %@", a.value)
        #expect(former.isEmpty == (a.element != b.element), "\(b.bits) over \(a.bits)")
      }
      try file.checkSound("\(a.bits)")
    }
  }

  /// True for a number that a condition makes one of the property's type.
  private func isRounded(_ sample: Sample) -> Bool {
    EqualValues.rounded.contains { $0.contains(sample.bits) }
  }

  func checkConditions(_ file: Specimens) throws {
    let all = file.realm.objects(Specimen.self)
    func check(_ moment: String) {
      for sample in samples where !isRounded(sample) {
        let equal = samples.indices.filter { samples[$0].element == sample.element }
        let others = samples.indices.filter { !equal.contains($0) }
        let comment: Comment = "\(sample.bits), \(moment)"
        #expect(all.filter("\(name) == %@", sample.value).map(\.id).sorted() == equal, comment)
        #expect(all.filter("\(name) IN %@", [sample.value]).map(\.id).sorted() == equal, comment)
        #expect(all.filter("\(name) != %@", sample.value).map(\.id).sorted() == others, comment)
        let listName = Specimen._name(of: list)
        #expect(
          all.filter("ANY \(listName) == %@", sample.value).map(\.id).sorted() == equal, comment)
      }
    }
    try file.write {
      for (id, sample) in samples.enumerated() {
        let object = Specimen(id)
        object[keyPath: single] = sample.value
        object[keyPath: list].append(sample.value)
        file.realm.add(object)
      }
      check("in the write")
    }
    check("after it")
    try file.checkSound()
  }

  func checkSearching(_ file: Specimens) throws {
    func check(_ elements: List<T>, _ moment: String) {
      for sample in samples {
        let comment: Comment = "\(sample.bits), \(moment)"
        let first = samples.firstIndex { $0.element == sample.element }
        let last = samples.lastIndex { $0.element == sample.element }
        #expect(elements.index(of: sample.value) == first, comment)
        #expect(elements.firstIndex(of: sample.value) == first, comment)
        #expect(elements.lastIndex(of: sample.value) == last, comment)
        #expect(elements.contains(sample.value), comment)
        #expect(AnyRealmCollection(elements).firstIndex(of: sample.value) == first, comment)
        expectFirst(sample.value, at: first, in: elements, comment)
        expectFirst(sample.value, at: first, in: elements[0...], comment)
        #expect(!elements[0..<first!].contains(sample.value), comment)
      }
    }
    let unmanaged = Specimen(0)
    unmanaged[keyPath: list].append(objectsIn: samples.map(\.value))
    check(unmanaged[keyPath: list], "unmanaged")
    let managed = Specimen(1)
    try file.write {
      managed[keyPath: list].append(objectsIn: samples.map(\.value))
      file.realm.add(managed)
      check(managed[keyPath: list], "in the write")
    }
    check(managed[keyPath: list], "managed")
    #expect(managed[keyPath: list] == unmanaged[keyPath: list])
    let sorted = managed[keyPath: list].sorted()
    for sample in samples {
      let first = sorted.firstIndex { bits($0).isSameElement(as: sample.bits) }
      #expect(sorted.index(of: sample.value) == first)
      #expect(first != nil)
      expectFirst(sample.value, at: first, in: sorted, "\(sample.bits), sorted")
    }
  }

  /// As code does that knows nothing of the library.
  private func expectFirst<C: Swift.Collection<T>>(
    _ value: T, at index: C.Index?, in elements: C, _ comment: Comment
  ) {
    #expect(elements.firstIndex(of: value) == index, comment)
    #expect(elements.contains(value) == (index != nil), comment)
  }

  func checkSets(_ file: Specimens) throws {
    let managed = Specimen(0)
    try file.write { file.realm.add(managed) }
    for object in [managed, Specimen(1)] {
      let elements = object[keyPath: set]
      func change(_ body: () -> Void) throws {
        if object.realm == nil { body() } else { try file.write(body) }
      }
      for sample in samples {
        let isNew = firsts.contains { $0.bits == sample.bits }
        #expect(elements.contains(sample.value) == !isNew, "\(sample.bits)")
        try change { elements.insert(sample.value) }
        #expect(elements.contains(sample.value))
        expectFirst(
          sample.value, at: elements.index(of: sample.value), in: elements, "\(sample.bits)")
      }
      #expect(Set(elements.map(bits)) == Set(firsts.map(\.bits)))
      try file.checkSound()
      for sample in samples.reversed() {
        let isThere = samples.last { $0.element == sample.element }?.bits == sample.bits
        #expect(elements.contains(sample.value) == isThere, "\(sample.bits)")
        try change { elements.remove(sample.value) }
        #expect(!elements.contains(sample.value), "\(sample.bits)")
      }
      #expect(elements.isEmpty)
      try file.checkSound()
    }
  }

  func checkGroups(_ file: Specimens) throws {
    let all = file.realm.objects(Specimen.self)
    let distinct = all.distinct(by: [name])
    let sections = all.sectioned(by: single)
    let byBlock = all.sectioned(
      by: { $0[keyPath: single] }, sortDescriptors: [SortDescriptor(keyPath: "id")])
    try file.write {
      for (id, sample) in samples.enumerated() {
        let object = Specimen(id)
        object[keyPath: single] = sample.value
        object[keyPath: list].append(objectsIn: samples.map(\.value))
        file.realm.add(object)
      }
    }
    let ids = firsts.map { first in samples.firstIndex { $0.bits == first.bits }! }
    #expect(distinct.map(\.id) == ids)
    #expect(all[0][keyPath: list].distinct().map(bits) == firsts.map(\.bits))
    let groups = Set(
      firsts.map { first in
        Set(samples.indices.filter { samples[$0].element == first.element })
      })
    for shown in [sections, byBlock] {
      #expect(Set(shown.map { Set($0.map(\.id)) }) == groups)
      #expect(shown.count == groups.count)
    }
    #expect(byBlock.map { bits($0.key) } == firsts.map(\.bits))
    if T._description.type != .any {
      let counted = all.grouped(by: name, as: T.self)
      #expect(counted.count == groups.count)
      for sample in samples {
        let size = samples.filter { $0.element == sample.element }.count
        #expect(counted.group(for: sample.value)?.count == size, "\(sample.bits)")
      }
    }
    try file.checkSound()
  }

  func checkUpdates(_ file: Specimens) throws {
    let object = Specimen(0)
    try file.write { file.realm.add(object) }
    let names = [name] + [list, set, map].map { Specimen._name(of: $0) }
    var told: Set<String> = []
    let token = object.observe { change in
      if case .change(_, let properties) = change { told.formUnion(properties.map(\.name)) }
    }
    file.instance.pump()
    func put(_ sample: Sample, _ update: Realm.UpdatePolicy) throws {
      let other = Specimen(0)
      other[keyPath: single] = sample.value
      other[keyPath: list].append(sample.value)
      other[keyPath: set].insert(sample.value)
      other[keyPath: map]["k"] = sample.value
      try file.write { file.realm.add(other, update: update) }
      file.instance.pump()
    }
    for (index, a) in samples.enumerated() {
      for b in partners(of: index) {
        try put(a, .all)
        told = []
        try put(b, .modified)
        let isOther = a.bits != b.bits
        #expect(told == (isOther ? Set(names) : []), "\(b.bits) over \(a.bits)")
        #expect(bits(object[keyPath: single]) == b.bits, "over \(a.bits)")
        #expect(object[keyPath: list].map(bits) == [b.bits], "over \(a.bits)")
        #expect(object[keyPath: set].map(bits) == [b.bits], "over \(a.bits)")
        #expect(object[keyPath: map].map { bits($0.value) } == [b.bits], "over \(a.bits)")
      }
      try file.checkSound("\(a.bits)")
    }
    token.invalidate()
  }

  func checkDeltas(_ file: Specimens) throws {
    let object = Specimen(0)
    try file.write { file.realm.add(object) }
    var (listCopy, setCopy): ([T], [T]) = ([], [])
    var mapCopy: [String: T] = [:]
    let tokens = [
      object[keyPath: list].observeChanges { $0.apply(to: &listCopy) },
      object[keyPath: set].observeChanges { $0.apply(to: &setCopy) },
      object[keyPath: map].observeChanges { $0.apply(to: &mapCopy) },
    ]
    file.instance.pump()
    for a in samples {
      for b in samples where a.element == b.element {
        for sample in [a, b] {
          try file.write {
            object[keyPath: list].removeAll()
            object[keyPath: list].append(sample.value)
            object[keyPath: set].remove(sample.value)
            object[keyPath: set].insert(sample.value)
            object[keyPath: map]["k"] = sample.value
          }
          file.instance.pump()
          #expect(listCopy.map(bits) == [sample.bits])
          #expect(setCopy.map(bits) == object[keyPath: set].map(bits), "\(b.bits) over \(a.bits)")
          #expect(mapCopy.mapValues(bits) == ["k": sample.bits])
        }
        // Two commits that are told of as one.
        try file.write { object[keyPath: set].remove(a.value) }
        try file.write { object[keyPath: set].insert(a.value) }
        file.instance.pump()
        #expect(setCopy.map(bits) == object[keyPath: set].map(bits), "\(a.bits) over \(b.bits)")
      }
      try file.write { object[keyPath: set].removeAll() }
      file.instance.pump()
    }
    for token in tokens { token.invalidate() }
  }
}

extension Specimen {
  fileprivate static func _name(of keyPath: PartialKeyPath<Specimen>) -> String {
    Tarn._name(for: keyPath, .observing)
  }
}
