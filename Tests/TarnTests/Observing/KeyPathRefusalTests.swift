import Foundation
import Testing

@testable import Tarn

/// Key paths of which a class knows nothing are refused where they are given.
struct KeyPathRefusalTests: TrapSuite {
  private let shelter = Result { try Shelter() }

  enum Mistake: String, CaseIterable, Codable {
    case unknown, unknownBehindALink, unknownBehindACollection, unknownBehindBacklinks
    case unknownBehindAnyValue, unlikeAnyName, empty, emptyPart, caseOfALetter, ofAnObject,
      ofSections, ofAMap
    case ofASequence, ofAnObjectsSequence, ofChanges
    case throughANumber, throughALinksNumber, throughANumbersElements, ofNumbers
    case computed, member, elementsCount

    var message: String {
      switch self {
      case .unknown, .ofAnObject, .ofSections, .ofAMap, .ofASequence, .ofAnObjectsSequence,
        .ofChanges:
        "Class 'Whelp' has no property 'nam', which is in the key path 'nam'. The nearest name is "
          + "'name'."
      case .unknownBehindALink:
        "Class 'Strap' has no property 'colour', which is in the key path 'friend.collar.colour'. "
          + "The nearest name is 'color'."
      case .unknownBehindACollection:
        "Class 'Whelp' has no property 'ages', which is in the key path 'hounds.ages'. The nearest "
          + "name is 'age'."
      case .unknownBehindBacklinks:
        "Class 'Pound' has no property 'hound', which is in the key path 'kennels.hound'. The "
          + "nearest name is 'hounds'."
      case .unknownBehindAnyValue:
        "No class has the property 'widht' of the key path 'things.widht'. The nearest name is "
          + "'width'."
      case .unlikeAnyName:
        "Class 'Whelp' has no property 'zebra', which is in the key path 'zebra'.\n"
      case .empty: "Class 'Whelp' has no property '', which is in the key path ''."
      case .emptyPart: "Class 'Whelp' has no property '', which is in the key path 'friend.'."
      case .caseOfALetter: "which is in the key path 'Name'. The nearest name is 'name'."
      case .throughANumber:
        "Property 'age' of class 'Whelp' is no link and has no property 'x', which is in the key "
          + "path 'age.x'."
      case .throughALinksNumber:
        "Property 'age' of class 'Whelp' is no link and has no property 'x', which is in the key "
          + "path 'friend.age.x.y'."
      case .throughANumbersElements:
        "Property 'counts' of class 'Tally' is no link and has no property 'sum', which is in the "
          + "key path 'counts.sum'."
      case .ofNumbers: "Key paths need objects: the elements of this collection are values."
      case .computed: "is not stored"
      case .member:
        "goes into a value, of which the file knows no parts, so it cannot be observed."
      case .elementsCount: "goes into a value, of which the file knows no parts"
      }
    }

    func make(_ pounds: Pounds) {
      let (kennel, whelps) = (pounds.kennel, pounds.whelps)
      func observe(_ keyPath: String) { _ = whelps.observe(keyPaths: [keyPath]) { _ in } }
      switch self {
      case .unknown: observe("nam")
      case .unknownBehindALink: observe("friend.collar.colour")
      case .unknownBehindACollection:
        _ = pounds.b.realm.objects(Pound.self).observe(keyPaths: ["hounds.ages"]) { _ in }
      case .unknownBehindBacklinks: observe("kennels.hound")
      case .unknownBehindAnyValue:
        _ = kennel.observe(keyPaths: ["things.widht"]) { (_: ObjectChange<Pound>) in }
      case .unlikeAnyName: observe("zebra")
      case .empty: observe("")
      case .emptyPart: observe("friend.")
      case .caseOfALetter: observe("Name")
      case .ofAnObject:
        _ = whelps[0].observe(keyPaths: ["nam"]) { (_: ObjectChange<Whelp>) in }
      case .ofSections: _ = whelps.sectioned(by: \.age).observe(keyPaths: ["nam"]) { _ in }
      case .ofAMap: _ = kennel.byName.observe(keyPaths: ["nam"]) { _ in }
      case .ofASequence: _ = kennel.hounds.changes(keyPaths: ["nam"])
      case .ofAnObjectsSequence: _ = whelps[0].changes(keyPaths: ["nam"])
      case .ofChanges: _ = kennel.pack.observeChanges(keyPaths: ["nam"]) { _ in }
      case .throughANumber: observe("age.x")
      case .throughALinksNumber: observe("friend.age.x.y")
      case .throughANumbersElements:
        _ = pounds.b.realm.objects(Tally.self).observe(keyPaths: ["counts.sum"]) { _ in }
      case .ofNumbers:
        let tally = pounds.b.realm.objects(Tally.self)[0]
        _ = tally.counts.observe(keyPaths: ["sum"]) { _ in }
      case .computed: _ = whelps.observe(keyPaths: [\.firstOfKennel?.age]) { _ in }
      case .member: _ = whelps.observe(keyPaths: [\.name.count]) { _ in }
      case .elementsCount:
        _ = pounds.b.realm.objects(Pound.self).observe(keyPaths: [\.hounds.count]) { _ in }
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(_ mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try shelter.get().folder as String, mistake = mistake as Mistake] in
      mistake.make(try Pounds(within: folder))
      exit(0)
    }
    try expect(mistake.message, in: result)
  }
}
