"""Names, places and phrases."""


def _split(text: str, by: str = " ") -> tuple[str, ...]:
    return tuple(text.split(by))


GIVEN_FEMALE = _split(
    "Ada Agnes Aisha Alice Amelia Anja Beatriz Camille Carmen Chidinma Clara Daniela Dorothea Elena Elif Emma Fatima "
    "Freya Grace Hana Helena Ingrid Isabel Jasmine Jelena Joanna Kavya Keiko Lakshmi Larissa Leonie Lin Lucía Magdalena "
    "Margaret Maria Mei Miriam Nadia Naomi Ngozi Nina Noor Olga Olivia Paula Priya Rebecca Renée Rosa Ruth Samira Sofía "
    "Sophie Svetlana Teresa Ursula Valentina Vera Wanda Xiulan Yasmin Yuki Zainab Zoë"
)
GIVEN_MALE = _split(
    "Adam Ahmed Albert Alejandro Amir Anders André Anton Arjun Benjamin Bjørn Carlos Charles Chen Christian Daichi "
    "Daniel David Diego Dmitri Eduardo Emeka Emil Felix Francisco François Gabriel George Hassan Henrik Hiroshi Hugo "
    "Ibrahim Igor Ivan Jack Jakub James Jens João John José Julian Kamal Karl Kenji Kofi Lars Leo Luca Lukas Mahmoud "
    "Marek Martin Mateo Mehmet Michael Minh Mohammed Nikolai Noah Oliver Omar Oscar Patrick Paul Pedro Peter Rafael Raj "
    "Robert Samuel Sanjay Sean Simon Stefan Tariq Thomas Tomás Viktor Wei William Yusuf Zoltán"
)
FAMILY = (
    (
        "Abdi Adeyemi Ahmadi Almeida Andersson Baker Banerjee Bauer Becker Bennett Bianchi Brown Campbell Carter Castillo "
        "Chen Clark Cohen Cruz Davies Delgado Diaz Dubois Edwards Eriksson Evans Fernández Fischer Foster Fujita Garcia "
        "Gomez González Gray Green Gupta Hall Hansen Harris Hoffmann Horváth Hughes Ibrahim Ito Ivanov Jackson Jansen "
        "Johnson Jones Kaya Kelly Khan Kim Kowalski Kumar Larsen Lee Lefèvre Lewis Lindqvist López Martin Martinez Mbeki "
        "Mehta Meyer Miller Moore Moreau Morgan Müller Murphy Mwangi Nakamura Nelson Nguyen Nilsen Novak O'Brien Okafor "
        "Olsen Park Patel Perez Petrov Phillips Popescu Ramirez Reed Reyes Ricci Rivera Roberts Robinson Rodriguez Rossi "
        "Ruiz Sánchez Santos Sato Schmidt Schneider Scott Shah Silva Singh Smith Sokolov Steiner Suzuki Tanaka Taylor "
        "Thompson Torres Tran Turner Van der Berg Vargas Vasquez Walker Wang Weber White Williams Wilson Wong Wright "
        "Yamamoto Yilmaz Young Zhang Zimmermann"
    )
    .replace("Van der Berg", "Van_der_Berg")
    .split()
)
STREETS = _split(
    "Maple Oak Cedar Pine Elm Walnut Chestnut Willow Birch Sycamore Magnolia Juniper Washington Jefferson Lincoln "
    "Madison Franklin Jackson Monroe Harrison Park Lake Hill River Spring Meadow Sunset Highland Forest Church Mill "
    "Bridge Main High Market Station College Railroad Prospect Orchard Vineyard Heritage Liberty Pleasant Summit"
)
STREET_KINDS = (
    (8, "Street"),
    (6, "Avenue"),
    (5, "Road"),
    (4, "Drive"),
    (3, "Lane"),
    (2, "Court"),
    (2, "Boulevard"),
    (1, "Terrace"),
)
# City, state and the first three digits of its zip codes.
PLACES = tuple(
    tuple(line.split("/"))
    for line in (
        "Albuquerque/New Mexico/871 Anchorage/Alaska/995 Ann_Arbor/Michigan/481 Atlanta/Georgia/303 Austin/Texas/787 "
        "Baltimore/Maryland/212 Baton_Rouge/Louisiana/708 Boise/Idaho/837 Boston/Massachusetts/021 Buffalo/New_York/142 "
        "Burlington/Vermont/054 Charlotte/North_Carolina/282 Chicago/Illinois/606 Cincinnati/Ohio/452 "
        "Cleveland/Ohio/441 Colorado_Springs/Colorado/809 Columbus/Ohio/432 Dallas/Texas/752 Denver/Colorado/802 "
        "Des_Moines/Iowa/503 Detroit/Michigan/482 El_Paso/Texas/799 Fargo/North_Dakota/581 Fresno/California/937 "
        "Hartford/Connecticut/061 Honolulu/Hawaii/968 Houston/Texas/770 Indianapolis/Indiana/462 "
        "Jacksonville/Florida/322 Kansas_City/Missouri/641 Las_Vegas/Nevada/891 Lexington/Kentucky/405 "
        "Little_Rock/Arkansas/722 Los_Angeles/California/900 Louisville/Kentucky/402 Madison/Wisconsin/537 "
        "Manchester/New_Hampshire/031 Memphis/Tennessee/381 Miami/Florida/331 Milwaukee/Wisconsin/532 "
        "Minneapolis/Minnesota/554 Nashville/Tennessee/372 New_Orleans/Louisiana/701 New_York/New_York/100 "
        "Newark/New_Jersey/071 Oklahoma_City/Oklahoma/731 Omaha/Nebraska/681 Orlando/Florida/328 "
        "Philadelphia/Pennsylvania/191 Phoenix/Arizona/850 Pittsburgh/Pennsylvania/152 Portland/Oregon/972 "
        "Providence/Rhode_Island/029 Raleigh/North_Carolina/276 Richmond/Virginia/232 Rochester/New_York/146 "
        "Sacramento/California/958 Salt_Lake_City/Utah/841 San_Antonio/Texas/782 San_Diego/California/921 "
        "San_Francisco/California/941 Santa_Fe/New_Mexico/875 Savannah/Georgia/314 Seattle/Washington/981 "
        "Spokane/Washington/992 Springfield/Illinois/627 Tampa/Florida/336 Tucson/Arizona/857 Tulsa/Oklahoma/741 "
        "Wichita/Kansas/672"
    )
    .replace("New Mexico", "New_Mexico")
    .split()
)
LANGUAGES = (
    (60, "English"),
    (16, "Spanish"),
    (4, "Chinese"),
    (3, "Vietnamese"),
    (3, "Arabic"),
    (3, "French"),
    (2, "Korean"),
    (2, "German"),
    (2, "Russian"),
    (2, "Portuguese"),
    (1, "Polish"),
    (1, "Hindi"),
    (1, "Tagalog"),
)
MARITAL = ((45, "married"), (30, "single"), (12, "divorced"), (8, "widowed"), (3, "separated"), (2, "domestic partner"))
STATUSES = ((82, "active"), (9, "inactive"), (5, "pending"), (4, "deceased"))
RELATIONS = (
    (18, "spouse"),
    (14, "mother"),
    (12, "father"),
    (10, "daughter"),
    (10, "son"),
    (9, "sister"),
    (9, "brother"),
    (6, "friend"),
    (5, "partner"),
    (4, "guardian"),
    (3, "neighbour"),
)
ADDRESS_KINDS = ((70, "home"), (15, "work"), (9, "billing"), (6, "temporary"))
PHONE_KINDS = ((55, "mobile"), (25, "home"), (16, "work"), (4, "fax"))

# What pages, scripts and style sheets are written with.
SUBJECTS = _split(
    "The ward|A nurse|The care team|Every patient|The laboratory|The night shift|A visiting relative|The pharmacy|The front desk|The attending physician|A new resident|The records office|The blood bank|The clinic in town|The district hospital|A volunteer",
    by="|",
)
VERBS = _split(
    "reviews|schedules|confirms|postpones|signs|prepares|collects|compares|archives|updates|requests|delivers|explains|checks|records|orders",
    by="|",
)
OBJECTS = _split(
    "the discharge summary|a follow-up appointment|the morning samples|an insurance form|the medication list|a transfer to another floor|the imaging results|a second opinion|the allergy notes|an interpreter|the weekly roster|a home visit|the vaccination card|the consent form|a wheelchair|the dietary plan",
    by="|",
)
WHENS = _split(
    "before the next round|within two working days|as soon as the results are in|every other Tuesday|during the afternoon visit|at the patient's request|after the handover|without delay|once the form has been countersigned|in the presence of a witness|by the end of the month|when the bed becomes free",
    by="|",
)
NOUNS = _split(
    "patient record contact address phone visit ward bed sample result order dose report invoice session roster"
)
ACTIONS = _split(
    "load save render update remove select filter sort format parse validate refresh toggle collect merge split"
)
